// An int8 tensor in its layout, in words of four channels. Its elements are numbered in row-major order.

struct Layout {
  words: u32,
  channels: u32,
  inner: u32,  // how far, in row-major order, the elements of neighbouring channels are apart
  channel_words: u32,
}

// The elements of a word: the number of the first, and how many there are, `inner` apart.
struct Elements {
  first: u32,
  count: u32,
}

fn elements_of(word: u32) -> Elements {
  let channel = word % params.tensor.channel_words * 4u;
  let pixel = word / params.tensor.channel_words;
  let outer = pixel / params.tensor.inner * params.tensor.channels + channel;
  return Elements(
    outer * params.tensor.inner + pixel % params.tensor.inner,
    min(4u, params.tensor.channels - min(channel, params.tensor.channels)));
}
