// A document of Caravan as a list of records that several processes may append to, compacted as it grows.
//
// Every append names the offset that it must get. So an append whose answer was lost is not made twice: the repetition is
// refused, and the value at that offset tells whose it is. And a snapshot is written only behind exactly what it replaces.
import { setTimeout as sleep } from "node:timers/promises"
import { isDeepStrictEqual } from "node:util"
import { pathOf, problemOf, refusal } from "./caravan.mjs"
import { readRecords, takeValues } from "./frames.mjs"

const BYTES = { "Content-Type": "application/octet-stream" }
// A document is not compacted for less.
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
  /** What was begun last; the next piece of work begins when it has ended. */
  #last = Promise.resolve()
  /** The offset of the next value, as far as known. @type {string | null} */
  #next = null
  /** The document's bytes, as far as known, and those that it had when it was last as small as it gets. */
  #bytes = 0
  #compactBytes = 0

  /**
   * @param {import("./caravan.mjs").Caravan} caravan
   * @param {string} name the document's: 1 to 1,024 bytes
   * @param {(records: Uint8Array[]) => Uint8Array[]} fold fewer records that say the same
   * @param {(error: Error) => void} [onError] told when compacting failed, which is tried again after the next append
   */
  constructor(caravan, name, fold, onError = console.error) {
    this.#caravan = caravan
    this.#name = pathOf(name)
    this.#path = `/v1/stream/${this.#name}`
    this.#fold = fold
    this.#onError = onError
  }

  /**
   * Appends a record. Those that come while the server answers go together in the next request.
   *
   * @param {Uint8Array} record
   * @returns {Promise<void>} when the server has acknowledged it: by default, when it is on its disk
   */
  append(record) {
    return new Promise((resolve, reject) => {
      if (this.#waiting.push({ record, resolve, reject }) === 1) {
        this.#inTurn(() => this.#appendWaiting())
      }
    })
  }

  /**
   * Reads the document, in one request, with everything that was appended here before.
   *
   * @returns {Promise<Uint8Array[]>} all records, oldest first
   */
  read() {
    return this.#inTurn(() => this.#read())
  }

  /** Deletes the document. @returns {Promise<void>} when that is durable */
  delete() {
    return this.#inTurn(async () => {
      await this.#caravan.request("DELETE", this.#path, { expect: [204, 404] })
      this.#next = null
      this.#bytes = this.#compactBytes = 0
    })
  }

  #inTurn(work) {
    const turn = this.#last.then(work)
    // Whoever asked is told of the error; the next piece of work begins all the same.
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
      await this.#compact().catch(this.#onError)
    }
  }

  /** Appends values side by side, behind whatever others append meanwhile. */
  async #write(values) {
    for (let conflicts = 1; !(await this.#writeHere(values)); conflicts++) {
      if (conflicts === MOST_CONFLICTS) {
        throw new Error(`${this.#path}: others keep appending: given up after ${conflicts} tries`)
      }
      // Two that write several values each would come between each other's for ever.
      if (values.length > 1) {
        await sleep(Math.random() * Math.min(2 ** conflicts, LONGEST_PAUSE_MS))
      }
    }
  }

  /** Appends values side by side from the known end on. False when that is not the end any more; now it is known. */
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

  /** Whether an append whose answer was lost was made. One that others have trimmed already is made again. */
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

  /** Replaces the records by fewer, if that halves the document and nobody appends meanwhile. */
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

/** The offset behind a value's: 16 digits of a sequence, and 16 zeros. */
function behind(offset) {
  const [sequence, zeros] = offset.split("_")
  return `${String(BigInt(sequence) + 1n).padStart(16, "0")}_${zeros}`
}
