// A Caravan document as a list of records to which several processes may append, and which is compacted as it grows.
//
// Every append contains the offset that it requires. If the response to an append is lost, the server rejects the
// repetition, and the value at that offset shows whether the append succeeded. A snapshot is written only directly
// after the records that it replaces.
import { setTimeout as sleep } from "node:timers/promises"
import { isDeepStrictEqual } from "node:util"
import { pathOf, problemOf, refusal } from "./caravan.mjs"
import { readRecords, takeValues } from "./frames.mjs"

const BYTES = { "Content-Type": "application/octet-stream" }
// A document is compacted when it has twice its compact size plus this number of bytes.
const COMPACT_BYTES = 64 * 1024
const MOST_CONFLICTS = 100
const LONGEST_PAUSE_MS = 500

export class Journal {
  #caravan
  #name
  #path
  #fold
  #onError
  /** @type {{ record: Uint8Array, resolve: () => void, reject: (error: unknown) => void }[]} */
  #waiting = []
  /** The last task. The next task starts when it has ended. */
  #last = Promise.resolve()
  /** The known offset of the next value. @type {string | null} */
  #next = null
  /** The known size of the document in bytes, and its size after the last attempt at compaction. */
  #bytes = 0
  #compactBytes = 0

  /**
   * @param {import("./caravan.mjs").Caravan} caravan
   * @param {string} name the name of the document, 1 to 1,024 bytes
   * @param {(records: Uint8Array[]) => Uint8Array[]} fold returns fewer records with the same meaning
   * @param {(error: Error) => void} [onError] called if compaction fails, which is retried when the document has
   *     doubled
   */
  constructor(caravan, name, fold, onError = console.error) {
    this.#caravan = caravan
    this.#name = pathOf(name)
    this.#path = `/v1/stream/${this.#name}`
    this.#fold = fold
    this.#onError = onError
  }

  /**
   * Appends a record. Records that arrive during a request are sent together in the next one.
   *
   * @param {Uint8Array} record
   * @returns {Promise<void>} resolves when the server has acknowledged the record, by default when it is on disk
   */
  append(record) {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ record, resolve, reject }) === 1) {
        this.#inTurn(() => this.#appendWaiting())
      }
    })
  }

  /**
   * Reads the document in one request, including all earlier appends of this journal.
   *
   * @returns {Promise<Uint8Array[]>} all records, oldest first
   */
  read() {
    return this.#inTurn(() => this.#read())
  }

  /** Deletes the document. @returns {Promise<void>} resolves when the deletion is durable */
  delete() {
    return this.#inTurn(async () => {
      await this.#caravan.request("DELETE", this.#path, { expect: [204, 404] })
      this.#next = null
      this.#bytes = this.#compactBytes = 0
    })
  }

  #inTurn(work) {
    const turn = this.#last.then(work)
    // The caller gets the error, and the next task starts anyway.
    this.#last = turn.catch(() => {})
    return turn
  }

  async #appendWaiting() {
    const batch = this.#waiting
    this.#waiting = []
    const records = batch.map(({ record }) => record)
    while (records.length > 0) {
      const { values, taken } = takeValues(records, this.#caravan.maxValueBytes)
      const done = batch.splice(0, taken)
      try {
        await this.#write(values)
        done.forEach(({ resolve }) => resolve())
      } catch (error) {
        done.forEach(({ reject }) => reject(error))
      }
    }
    if (this.#bytes >= 2 * this.#compactBytes + COMPACT_BYTES) {
      await this.#compact().catch((error) => {
        this.#compactBytes = this.#bytes
        this.#onError(error)
      })
    }
  }

  /** Appends consecutive values after concurrent appends of other writers. */
  async #write(values) {
    for (let conflicts = 1; !(await this.#writeHere(values)); conflicts++) {
      if (conflicts === MOST_CONFLICTS) {
        throw new Error(`${this.#path}: others keep appending: given up after ${conflicts} tries`)
      }
      // Without the pause, two writers with several values each could interrupt each other forever.
      if (values.length > 1) {
        await sleep(Math.random() * Math.min(2 ** conflicts, LONGEST_PAUSE_MS))
      }
    }
  }

  /**
   * Appends consecutive values at the known end. Returns false, with the new end known, if another writer has appended.
   */
  async #writeHere(values) {
    for (const value of values) {
      if (!(await this.#writeOne(value))) {
        return false
      }
    }
    return true
  }

  async #writeOne(value) {
    this.#next ??= await this.#create()
    const at = this.#next
    const answer = await this.#caravan.request("POST", this.#path, {
      headers: { ...BYTES, "Stream-If-Offset": at }, body: value, expect: [204, 404, 409],
    })
    const end = answer.headers.get("Stream-Next-Offset")
    if (answer.status === 409) {
      if (problemOf(answer).code !== "sequence_conflict") {
        throw refusal("POST", this.#path, answer)
      }
      if (answer.attempts === 1 || !(await this.#holds(at, value))) {
        this.#next = end
        return false
      }
    } else if (answer.status === 404) {
      this.#next = null
      return false
    }
    this.#next = behind(at)
    this.#bytes += value.length
    return true
  }

  async #create() {
    const answer = await this.#caravan.request("PUT", this.#path, { headers: BYTES, expect: [200, 201] })
    return answer.headers.get("Stream-Next-Offset")
  }

  /** Whether an append with a lost response succeeded. If the value has already been trimmed, it is appended again. */
  async #holds(at, value) {
    const path = `/v1/values/${this.#name}?offset=${at}&raw=true`
    const answer = await this.#caravan.request("GET", path, { expect: [200, 400, 404, 410] })
    return answer.status === 200 && isDeepStrictEqual(answer.body, value)
  }

  async #read() {
    const answer = await this.#caravan.request("GET", this.#path, { expect: [200, 404] })
    const found = answer.status === 200
    this.#next = found ? answer.headers.get("Stream-Next-Offset") : null
    this.#bytes = found ? answer.body.length : 0
    return found ? readRecords(answer.body) : []
  }

  /** Replaces the records with fewer ones if that halves the document and no other writer appends in the meantime. */
  async #compact() {
    const records = this.#fold(await this.#read())
    const end = this.#next
    const values = []
    while (records.length > 0) {
      values.push(...takeValues(records, this.#caravan.maxValueBytes).values)
    }
    const bytes = values.reduce((sum, { length }) => sum + length, 0)
    if (end !== null && 2 * bytes <= this.#bytes) {
      if (!(await this.#writeHere(values))) {
        return
      }
      await this.#caravan.request("POST", `${this.#path}?trim=${end}`, { expect: [204] })
      this.#bytes = bytes
    }
    this.#compactBytes = this.#bytes
  }
}

/** Returns the offset after a value: 16 digits for the sequence, and 16 zeros. */
function behind(offset) {
  const [sequence, zeros] = offset.split("_")
  return `${String(BigInt(sequence) + 1n).padStart(16, "0")}_${zeros}`
}
