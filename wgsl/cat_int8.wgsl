// uses threads
// Copies the channels of the map x to consecutive channels of y, which has more; both are channels-last. One thread a word
// of x.

struct Params {
  words: u32,
  channel_words: u32,
  x_channel_words: u32,
  y_channel_words: u32,
  first_word: u32,
}

@group(0) @binding(0) var<storage, read> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
@group(0) @binding(2) var<uniform> params: Params;

fn run(index: u32) {
  if (index < params.words) {
    let pixel = index / params.channel_words;
    let word = index % params.channel_words;
    y[pixel * params.y_channel_words + params.first_word + word] = x[pixel * params.x_channel_words + word];
  }
}
