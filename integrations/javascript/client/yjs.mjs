// Yjs updates as records of a journal. The caller passes the Yjs module, because a process must not use two copies of
// it.

/**
 * @param {typeof import("yjs")} Y
 * @returns {(updates: Uint8Array[]) => Uint8Array[]} merges updates into one without deleted content, and keeps those
 *     that this version of Yjs cannot apply
 */
export const foldUpdates = (Y) => (updates) => {
  const doc = new Y.Doc()
  const rejected = []
  applyAll(Y, doc, updates, null, (_, update) => rejected.push(update))
  const update = Y.encodeStateAsUpdate(doc)
  doc.destroy()
  return [update, ...rejected]
}

/**
 * Applies updates in one transaction. One update that cannot be applied does not make the document unreadable.
 *
 * @param {typeof import("yjs")} Y
 * @param {import("yjs").Doc} doc
 * @param {Uint8Array[]} updates
 * @param {unknown} origin
 * @param {(error: Error, update: Uint8Array) => void} onRejected called for each update that cannot be applied
 */
export function applyAll(Y, doc, updates, origin, onRejected) {
  doc.transact(() => updates.forEach((update) => {
    try {
      Y.applyUpdate(doc, update)
    } catch (error) {
      onRejected(error, update)
    }
  }), origin)
}
