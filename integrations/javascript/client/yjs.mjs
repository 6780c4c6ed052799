// Yjs updates as records of a journal. The module of Yjs is the caller's: two copies of it in a process do not mix.

/**
 * @param {typeof import("yjs")} Y
 * @returns {(updates: Uint8Array[]) => Uint8Array[]} one update that says what all say; what they delete is not in it
 */
export const foldUpdates = (Y) => (updates) => {
  const doc = new Y.Doc()
  applyAll(Y, doc, updates, null)
  const update = Y.encodeStateAsUpdate(doc)
  doc.destroy()
  return [update]
}

/**
 * @param {typeof import("yjs")} Y
 * @param {import("yjs").Doc} doc
 * @param {Uint8Array[]} updates
 * @param {unknown} origin
 */
export function applyAll(Y, doc, updates, origin) {
  doc.transact(() => updates.forEach((update) => Y.applyUpdate(doc, update)), origin)
}
