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

fn elements_of(tensor: Layout, word: u32) -> Elements {
  let channel = word % tensor.channel_words * 4u;
  let pixel = word / tensor.channel_words;
  let outer = pixel / tensor.inner * tensor.channels + channel;
  return Elements(
    outer * tensor.inner + pixel % tensor.inner,
    min(4u, tensor.channels - min(channel, tensor.channels)));
}
