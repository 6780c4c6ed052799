// The encoding of records in the values of a document. A read returns the values without boundaries, so each record has
// a frame: one byte of flags, four bytes for the length, and the content. A record that is too long for one value is
// divided among consecutive values. If another writer interrupts them, or the writer dies, readers ignore the
// incomplete record.
const BEGINS = 1
const ENDS = 2
const HEADER_BYTES = 5

/**
 * Removes records from the front of a list and returns the values with them: as many records as fit into one value, or
 * one record in several values.
 *
 * @param {Uint8Array[]} records at least one record; the method removes the encoded ones
 * @param {number} maxValueBytes
 * @returns {{ values: Uint8Array[], taken: number }}
 */
export function takeValues(records, maxValueBytes) {
  const room = maxValueBytes - HEADER_BYTES
  if (records[0].length > room) {
    const [record] = records.splice(0, 1)
    const values = []
    for (let from = 0; from < record.length; from += room) {
      const last = from + room >= record.length
      values.push(frame(record.subarray(from, from + room), (from === 0 ? BEGINS : 0) | (last ? ENDS : 0)))
    }
    return { values, taken: 1 }
  }
  let taken = 0
  for (let bytes = 0; taken < records.length; taken++) {
    bytes += HEADER_BYTES + records[taken].length
    if (bytes > maxValueBytes) {
      break
    }
  }
  return { values: [join(records.splice(0, taken).map((record) => frame(record, BEGINS | ENDS)))], taken }
}

/**
 * @param {Uint8Array} bytes the concatenated values
 * @returns {Uint8Array[]} the complete records in order
 */
export function readRecords(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const records = []
  let parts = null
  for (let at = 0; at < bytes.length; ) {
    const flags = at + HEADER_BYTES <= bytes.length ? view.getUint8(at) : Infinity
    const end = flags <= (BEGINS | ENDS) ? at + HEADER_BYTES + view.getUint32(at + 1) : Infinity
    if (end > bytes.length) {
      throw new Error(`byte ${at} of ${bytes.length} begins no frame: something else has written to this document`)
    }
    if (flags & BEGINS) {
      parts = []
    }
    // If `parts` is null, the earlier values of this record were trimmed because a snapshot has replaced it.
    parts?.push(bytes.subarray(at + HEADER_BYTES, end))
    if (flags & ENDS && parts) {
      records.push(parts.length === 1 ? parts[0] : join(parts))
      parts = null
    }
    at = end
  }
  return records
}

function frame(bytes, flags) {
  const framed = new Uint8Array(HEADER_BYTES + bytes.length)
  framed[0] = flags
  new DataView(framed.buffer).setUint32(1, bytes.length)
  framed.set(bytes, HEADER_BYTES)
  return framed
}

/** @param {Uint8Array[]} all */
function join(all) {
  const joined = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const bytes of all) {
    joined.set(bytes, at)
    at += bytes.length
  }
  return joined
}
