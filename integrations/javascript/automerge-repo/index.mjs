// automerge-repo stores chunks under keys whose first part is the id of a document. All chunks of a document are in one
// Caravan document, a journal of saves and removals that is read at once.
import { Caravan, Journal } from "caravan-client"

const LINE_END = "\n".charCodeAt(0)
const utf8 = { encode: new TextEncoder(), decode: new TextDecoder() }

/** @typedef {import("@automerge/automerge-repo").StorageKey} StorageKey */

/** @implements {import("@automerge/automerge-repo").StorageAdapterInterface} */
export class CaravanStorageAdapter {
  #caravan
  #prefix
  #onError
  /** @type {Map<string, Journal>} */
  #journals = new Map()

  /**
   * @param {import("caravan-client").Options & { prefix?: string, onError?: (error: Error) => void }} [options]
   *     `prefix`: the prefix of the document names in Caravan; `onError`: called if compaction fails, which is retried
   */
  constructor({ prefix = "", onError = console.error, ...options } = {}) {
    this.#caravan = new Caravan(options)
    this.#prefix = prefix
    this.#onError = onError
  }

  /** @param {StorageKey} key @returns {Promise<Uint8Array | undefined>} */
  async load(key) {
    return (await this.#chunks(key)).get(JSON.stringify(key))
  }

  /** @param {StorageKey} key @param {Uint8Array} data @returns {Promise<void>} resolves when the data is durable */
  async save(key, data) {
    await this.#journal(key).append(record({ save: key }, data))
  }

  /** @param {StorageKey} key @returns {Promise<void>} resolves when the removal is durable */
  async remove(key) {
    await this.#journal(key).append(record({ remove: key }))
  }

  /** @param {StorageKey} prefix @returns {Promise<{ key: StorageKey, data: Uint8Array }[]>} */
  async loadRange(prefix) {
    return [...(await this.#chunks(prefix))]
      .map(([key, data]) => ({ key: JSON.parse(key), data }))
      .filter(({ key }) => isBelow(key, prefix))
  }

  /** @param {StorageKey} prefix @returns {Promise<void>} resolves when the removal is durable */
  async removeRange(prefix) {
    await this.#journal(prefix).append(record({ removeRange: prefix }))
  }

  async #chunks(key) {
    return chunksOf(await this.#journal(key).read())
  }

  #journal([id]) {
    if (id === undefined) {
      throw new Error("an empty key is all documents: name one")
    }
    if (!this.#journals.has(id)) {
      this.#journals.set(id, new Journal(this.#caravan, this.#prefix + id, fold, this.#onError))
    }
    return this.#journals.get(id)
  }
}

/** Returns a record: a line of JSON with the operation and the key, followed by the bytes. */
function record(change, data = new Uint8Array()) {
  const line = utf8.encode.encode(`${JSON.stringify(change)}\n`)
  const all = new Uint8Array(line.length + data.length)
  all.set(line)
  all.set(data, line.length)
  return all
}

/** @param {Uint8Array[]} records @returns {Map<string, Uint8Array>} the chunks after all records, by key in JSON */
function chunksOf(records) {
  const chunks = new Map()
  for (const bytes of records) {
    const end = bytes.indexOf(LINE_END)
    const { save, remove, removeRange } = JSON.parse(utf8.decode.decode(bytes.subarray(0, end)))
    if (save) {
      chunks.set(JSON.stringify(save), bytes.slice(end + 1))
    } else if (remove) {
      chunks.delete(JSON.stringify(remove))
    } else {
      [...chunks.keys()].filter((key) => isBelow(JSON.parse(key), removeRange)).forEach((key) => chunks.delete(key))
    }
  }
  return chunks
}

function fold(records) {
  return [...chunksOf(records)].map(([key, data]) => record({ save: JSON.parse(key) }, data))
}

function isBelow(key, prefix) {
  return prefix.every((part, at) => key[at] === part)
}
