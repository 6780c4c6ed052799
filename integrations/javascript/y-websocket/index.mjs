// y-websocket's server lets editors go on before a document is loaded, and never tells them that a change is saved. So a
// change is stored as soon as it is made; when that fails, the editors are disconnected. They come back with what they
// have, to a document that is loaded anew.
import { Caravan, Journal } from "caravan-client"
import { applyAll, foldUpdates } from "caravan-client/yjs"
import * as Y from "yjs"

/**
 * For `setPersistence` of `@y/websocket-server`.
 *
 * @param {import("caravan-client").Options & { prefix?: string, onError?: (error: Error) => void }} [options]
 *     `prefix`: what the names in Caravan begin with; `onError`: told what could not be loaded or stored
 */
export function caravanPersistence({ prefix = "", onError = console.error, ...options } = {}) {
  const caravan = new Caravan(options)
  // A document that is opened again while it is being closed goes on with the same journal, and so sees all of it.
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
        doc.conns.forEach((_, connection) => connection.close())
      }
      doc.on("update", (update, origin) => {
        if (origin !== journal) {
          journal.append(update).catch(failed)
        }
      })
      try {
        applyAll(Y, doc, await journal.read(), journal)
      } catch (error) {
        failed(error)
      }
    },

    /** The last editor has left: ends when everything is stored. What failed is stored now, with all the rest. */
    writeState: async (name, doc) => {
      const { journal } = open.get(name)
      try {
        const stored = new Y.Doc()
        applyAll(Y, stored, await journal.read(), null)
        const missing = Y.encodeStateAsUpdate(doc, Y.encodeStateVector(stored))
        if (!Y.snapshotContainsUpdate(Y.snapshot(stored), missing)) {
          await journal.append(missing)
        }
      } catch (error) {
        onError(error)
      }
      if (open.get(name).doc === doc) {
        open.delete(name)
      }
    },
  }
}
