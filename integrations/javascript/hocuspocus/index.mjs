// Hocuspocus tells an editor that its change is saved as soon as it has applied the change. So the extension stores a
// change before Hocuspocus applies it. All visible changes are durable.
import { Connection, MessageType } from "@hocuspocus/server"
import { Caravan, Journal } from "caravan-client"
import { applyAll, foldUpdates } from "caravan-client/yjs"
import * as decoding from "lib0/decoding"
import { messageYjsSyncStep1, messageYjsSyncStep2 } from "y-protocols/sync"
import * as Y from "yjs"

/** @implements {import("@hocuspocus/server").Extension} */
export class CaravanExtension {
  extensionName = "caravan"
  // The extension loads documents before other extensions add to them.
  priority = 1000
  #caravan
  #prefix
  #onError
  /** @type {WeakMap<import("@hocuspocus/server").Document, Stored>} the open documents */
  #open = new WeakMap()

  /**
   * @param {import("caravan-client").Options & { prefix?: string, onError?: (error: Error) => void }} [options]
   *     `prefix`: the prefix of the document names in Caravan; `onError`: called with errors that no editor receives
   */
  constructor({ prefix = "", onError = console.error, ...options } = {}) {
    this.#caravan = new Caravan(options)
    this.#prefix = prefix
    this.#onError = onError
  }

  async onLoadDocument({ documentName, document }) {
    const stored = new Stored(new Journal(this.#caravan, this.#prefix + documentName, foldUpdates(Y), this.#onError))
    this.#open.set(document, stored)
    applyAll(Y, document, await stored.journal.read(), this, this.#onError)
    stored.loaded = Y.encodeStateVector(document)
  }

  /** Stores the changes that other extensions have made while they loaded. */
  async afterLoadDocument({ document }) {
    const stored = this.#open.get(document)
    const added = Y.encodeStateAsUpdate(document, stored.loaded)
    if (Y.decodeUpdate(added).structs.length > 0) {
      await stored.keep(added)
    }
  }

  /** Stores an editor's change. If this fails, the connection is closed, and the editor sends the change again. */
  async beforeHandleMessage({ document, connection, update: message }) {
    const change = changeIn(message)
    if (change === null || connection.readOnly || isKnown(document, change)) {
      return
    }
    // Throws if the bytes are not an update, because otherwise the document could never be loaded again.
    Y.decodeUpdate(change.update)
    await this.#open.get(document).journal.append(change.update)
  }

  /**
   * Stores a change of the server itself, for example by a direct connection, whose `transact` waits for
   * `onStoreDocument`.
   */
  async onChange({ document, transactionOrigin, update }) {
    const byEditor = (transactionOrigin?.connection ?? transactionOrigin) instanceof Connection
    if (!byEditor) {
      await this.#open.get(document).keep(update).catch(this.#onError)
    }
  }

  /** Stores the remaining changes. If this fails, Hocuspocus keeps the document and retries after the next change. */
  async onStoreDocument({ document }) {
    await this.#open.get(document).keep()
  }
}

/** Returns the update in an editor's message, or null. @param {Uint8Array} message */
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

/** Whether a connecting editor sends nothing new. Its update always contains all deletions. */
function isKnown(document, { step, update }) {
  return step === messageYjsSyncStep2 && Y.snapshotContainsUpdate(Y.snapshot(document), update)
}

/** A document's journal, and the server's own changes that are not stored yet. */
class Stored {
  /** @type {Uint8Array[]} */
  #unsaved = []
  #last = Promise.resolve()

  /** @param {Journal} journal */
  constructor(journal) {
    this.journal = journal
  }

  /** @param {Uint8Array[]} updates @returns {Promise<void>} resolves when these and all earlier updates are durable */
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
