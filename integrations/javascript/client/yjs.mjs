// Yjs updates as records of a journal. The caller passes the Yjs module, because a process must not use two copies of
// it.

/**
 * @param {typeof import("yjs")} Y
 * @returns {(updates: Uint8Array[]) => Uint8Array[]} merges updates into one without deleted content
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
