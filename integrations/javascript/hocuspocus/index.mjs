// Hocuspocus tells an editor that its change is saved as soon as it has applied it. So a change is stored before it is
// applied: what an editor, or anybody else, gets to see of it is durable.
import { Connection, MessageType } from "@hocuspocus/server"
import { Caravan, Journal } from "caravan-client"
import { applyAll, foldUpdates } from "caravan-client/yjs"
import * as decoding from "lib0/decoding"
import { messageYjsSyncStep1, messageYjsSyncStep2 } from "y-protocols/sync"
import * as Y from "yjs"

/** @implements {import("@hocuspocus/server").Extension} */
export class CaravanExtension {
  extensionName = "caravan"
  // Documents are loaded before other extensions add to them.
  priority = 1000
  #caravan
  #prefix
  #onError
  /** @type {Map<string, Stored>} the documents that are open */
  #open = new Map()

  /**
   * @param {import("caravan-client").Options & { prefix?: string, onError?: (error: Error) => void }} [options]
   *     `prefix`: what the names in Caravan begin with; `onError`: told what no editor can be told
   */
  constructor({ prefix = "", onError = console.error, ...options } = {}) {
    this.#caravan = new Caravan(options)
    this.#prefix = prefix
    this.#onError = onError
  }

  async onLoadDocument({ documentName, document }) {
    const stored = new Stored(new Journal(this.#caravan, this.#prefix + documentName, foldUpdates(Y), this.#onError))
    this.#open.set(documentName, stored)
    applyAll(Y, document, await stored.journal.read(), this)
    stored.loaded = Y.encodeStateVector(document)
  }

  /** What other extensions have added while they loaded is stored like any change. */
  async afterLoadDocument({ documentName, document }) {
    const stored = this.#open.get(documentName)
    const added = Y.encodeStateAsUpdate(document, stored.loaded)
    if (Y.decodeUpdate(added).structs.length > 0) {
      await stored.keep(added)
    }
  }

  /** A change of an editor. When it cannot be stored, the connection is closed, and the editor sends it again. */
  async beforeHandleMessage({ documentName, document, connection, update: message }) {
    const change = changeIn(message)
    if (change === null || connection.readOnly || isKnown(document, change)) {
      return
    }
    // Throws when it is no update: nobody could load the document any more.
    Y.decodeUpdate(change.update)
    await this.#open.get(documentName).journal.append(change.update)
  }

  /** A change of the server itself, by a direct connection for example, whose `transact` waits for `onStoreDocument`. */
  async onChange({ documentName, transactionOrigin, update }) {
    const byEditor = (transactionOrigin?.connection ?? transactionOrigin) instanceof Connection
    if (!byEditor) {
      await this.#open.get(documentName).keep(update).catch(this.#onError)
    }
  }

  /** When it fails, Hocuspocus keeps the document, and stores it again after the next change. */
  async onStoreDocument({ documentName }) {
    await this.#open.get(documentName).keep()
  }

  async afterUnloadDocument({ documentName }) {
    this.#open.delete(documentName)
  }
}

/** The update that a message of an editor brings, or null. @param {Uint8Array} message */
function changeIn(message) {
  const decoder = decoding.createDecoder(message)
  decoding.readVarString(decoder)
  const type = decoding.readVarUint(decoder)
  if (type !== MessageType.Sync && type !== MessageType.SyncReply) {
    return null
  }
  const step = decoding.readVarUint(decoder)
  return step === messageYjsSyncStep1 ? null : { step, update: decoding.readVarUint8Array(decoder) }
}

/** Whether an editor that connects has nothing new: what it sends then names all that was ever deleted. */
function isKnown(document, { step, update }) {
  return step === messageYjsSyncStep2 && Y.snapshotContainsUpdate(Y.snapshot(document), update)
}

/** A document's journal, and the server's own changes that it does not have yet. */
class Stored {
  /** @type {Uint8Array[]} */
  #unsaved = []
  #last = Promise.resolve()

  /** @param {Journal} journal */
  constructor(journal) {
    this.journal = journal
  }

  /** @param {Uint8Array[]} updates @returns {Promise<void>} when these and all before are durable */
  keep(...updates) {
    this.#unsaved.push(...updates)
    const turn = this.#last.then(async () => {
      const count = this.#unsaved.length
      if (count > 0) {
        await this.journal.append(Y.mergeUpdates(this.#unsaved))
        this.#unsaved.splice(0, count)
      }
    })
    this.#last = turn.catch(() => {})
    return turn
  }
}
