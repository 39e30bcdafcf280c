// Index tensors, up to six, of int32 or int64. An index that is out of range becomes the nearest that is in range.

@group(0) @binding(0) var<storage, read> i0: array<u32>;
@group(0) @binding(1) var<storage, read> i1: array<u32>;
@group(0) @binding(2) var<storage, read> i2: array<u32>;
@group(0) @binding(3) var<storage, read> i3: array<u32>;
@group(0) @binding(4) var<storage, read> i4: array<u32>;
@group(0) @binding(5) var<storage, read> i5: array<u32>;

// How far a loop has come in each tensor. near: unused, the data, i0 and i1; far: i2, i3, i4 and i5.
struct Offsets {
  near: vec4<u32>,
  far: vec4<u32>,
}

// An axis is its size and the strides in data and the index tensors, in two vectors; the innermost comes first.
fn offsets(index: u32, first: u32, rank: u32) -> Offsets {
  var at = Offsets(vec4<u32>(), vec4<u32>());
  var rest = index;
  for (var d = first; d < first + rank; d++) {
    let axis = params.axes[2u * d];
    let c = rest % axis.x;
    rest /= axis.x;
    at.near += c * axis;
    at.far += c * params.axes[2u * d + 1u];
  }
  return at;
}

fn offset_in(tensor: u32, at: Offsets) -> u32 {
  if (tensor < 2u) {
    return at.near[tensor + 2u];
  }
  return at.far[tensor - 2u];
}

fn stored(tensor: u32, word: u32) -> u32 {
  switch tensor {
    case 0u: {
      return i0[word];
    }
    case 1u: {
      return i1[word];
    }
    case 2u: {
      return i2[word];
    }
    case 3u: {
      return i3[word];
    }
    case 4u: {
      return i4[word];
    }
    default: {
      return i5[word];
    }
  }
}

// An index, of one word or of two, into an axis of that size. Negative ones count from the end, where that is allowed.
fn index_at(tensor: u32, element: u32, size: u32, words: u32, negative: bool) -> u32 {
  let low = stored(tensor, element * words);
  var high = u32(bitcast<i32>(low) >> 31u);
  if (words == 2u) {
    high = stored(tensor, 2u * element + 1u);
  }
  if (high >> 31u == 1u) {
    let from_start = low + size;
    return select(0u, from_start, negative && high == 0xffffffffu && from_start < size);
  }
  return select(size - 1u, low, high == 0u && low < size);
}
