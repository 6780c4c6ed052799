// The y-websocket server lets editors continue before a document is loaded, and never reports that a change is saved.
// So the extension stores a change as soon as it is made. If that fails, it disconnects the editors. They reconnect
// with their state to a document that is loaded again.
import { Caravan, Journal } from "caravan-client"
import { applyAll, foldUpdates } from "caravan-client/yjs"
import * as Y from "yjs"

/**
 * Returns a persistence for `setPersistence` of `@y/websocket-server`.
 *
 * @param {import("caravan-client").Options & { prefix?: string, onError?: (error: Error) => void }} [options] `prefix`:
 *     the prefix of the document names in Caravan; `onError`: called if a document cannot be loaded or stored
 */
export function caravanPersistence({ prefix = "", onError = console.error, ...options } = {}) {
  const caravan = new Caravan(options)
  // If a document is opened again while it is being closed, the same journal continues, so it reads everything.
  /** @type {Map<string, { journal: Journal, doc: Y.Doc }>} */
  const open = new Map()

  return {
    provider: caravan,

    /** @param {string} name @param {import("@y/websocket-server/utils").WSSharedDoc} doc */
    bindState: async (name, doc) => {
      const journal = open.get(name)?.journal ?? new Journal(caravan, prefix + name, foldUpdates(Y), onError)
      open.set(name, { journal, doc })
      const failed = (error) => {
        onError(error)
        // A connection that is being closed would keep the document, which is incomplete, open for new editors.
        doc.conns.forEach((_, connection) => connection.terminate())
      }
      doc.on("update", (update, origin) => {
        if (origin !== journal) {
          journal.append(update).catch(failed)
        }
      })
      try {
        applyAll(Y, doc, await journal.read(), journal, onError)
      } catch (error) {
        failed(error)
      }
    },

    /**
     * Runs when the last editor has left, and resolves when everything is stored, including changes that failed before.
     * The server calls it twice for one document if its last two connections end together.
     */
    writeState: async (name, doc) => {
      const opened = open.get(name)
      if (opened === undefined) {
        return
      }
      try {
        const stored = new Y.Doc()
        applyAll(Y, stored, await opened.journal.read(), null, () => {})
        const missing = Y.encodeStateAsUpdate(doc, Y.encodeStateVector(stored))
        if (!Y.snapshotContainsUpdate(Y.snapshot(stored), missing)) {
          await opened.journal.append(missing)
        }
      } catch (error) {
        onError(error)
      }
      if (open.get(name)?.doc === doc) {
        open.delete(name)
      }
    },
  }
}
