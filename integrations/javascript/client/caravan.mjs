// A server: its address, its token, and how long to try.
import { setTimeout as sleep } from "node:timers/promises"

/** The server refused a request, or did not answer in time: then what was to be written may or may not be there. */
export class CaravanError extends Error {
  /**
   * @param {string} message what happened
   * @param {{ status?: number, code?: string, cause?: unknown }} [details] the answer's, if there was one
   */
  constructor(message, { status, code, cause } = {}) {
    super(message, { cause })
    this.name = "CaravanError"
    this.status = status
    this.code = code
  }
}

const FIRST_PAUSE_MS = 50
const LONGEST_PAUSE_MS = 1_000
const TRY_AGAIN = new Set([408, 429, 502, 503, 504, 507])

/**
 * @typedef {object} Options
 * @property {string} [url] the server's HTTP address
 * @property {string} [token] sent as a bearer token
 * @property {number} [timeoutMs] how long one attempt may take
 * @property {number} [patienceMs] how long a request is tried again while the server is away or busy
 * @property {number} [maxValueBytes] the server's `--max-value`; what is longer is stored in parts
 */

export class Caravan {
  /** @param {Options} [options] */
  constructor(options = {}) {
    this.url = (options.url ?? "http://127.0.0.1:4437").replace(/\/+$/, "")
    this.timeoutMs = options.timeoutMs ?? 10_000
    this.patienceMs = options.patienceMs ?? 30_000
    this.maxValueBytes = options.maxValueBytes ?? 1024 * 1024
    this.authorization = options.token ? { Authorization: `Bearer ${options.token}` } : {}
  }

  /**
   * Sends a request, again and again for `patienceMs` while the server is away or busy. So it may be done more than
   * once: `attempts` tells.
   *
   * @param {string} method
   * @param {string} path
   * @param {{ headers?: Record<string, string>, body?: Uint8Array, expect: number[] }} options `expect`: the statuses
   *     that are answers; others are errors
   * @returns {Promise<{ status: number, headers: Headers, body: Uint8Array, attempts: number }>}
   * @throws {CaravanError}
   */
  async request(method, path, { headers, body, expect }) {
    const deadline = Date.now() + this.patienceMs
    for (let attempts = 1, pause = FIRST_PAUSE_MS; ; attempts++, pause = Math.min(2 * pause, LONGEST_PAUSE_MS)) {
      const answer = await this.#attempt(method, path, headers, body)
      if (expect.includes(answer.status)) {
        return { ...answer, attempts }
      }
      const error = answer.error ?? refusal(method, path, answer)
      if ((answer.status !== undefined && !TRY_AGAIN.has(answer.status)) || Date.now() + pause > deadline) {
        throw error
      }
      await sleep(pause)
    }
  }

  async #attempt(method, path, headers, body) {
    const signal = AbortSignal.timeout(this.timeoutMs)
    try {
      const response = await fetch(this.url + path, {
        method, body, signal, redirect: "error", headers: { ...this.authorization, ...headers },
      })
      const content = new Uint8Array(await response.arrayBuffer())
      return { status: response.status, headers: response.headers, body: content }
    } catch (cause) {
      const why = cause.cause?.message ?? cause.message
      return { error: new CaravanError(`${method} ${this.url}${path}: no answer: ${why}`, { cause }) }
    }
  }
}

/** Names whose plain path clients or proxies rewrite, or the server reserves. */
const REWRITTEN = /(^|\/)\.{0,2}\/|(^|\/)\.{1,2}$|^__ds$|^__(ds|name)\//

const code = (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`

/**
 * @param {string} name a document's
 * @returns {string} what stands for it in the server's paths, spelled as the server does
 */
export function pathOf(name) {
  const encoded = encodeURIComponent(name).replace(/[!*'()]/g, code)
  return REWRITTEN.test(name)
    ? `__name/${encoded.replace(/[.~]/g, code).replaceAll("%", "~")}`
    : encoded.replaceAll("%2F", "/")
}

/** The answer's `application/problem+json`; empty when it is something else, as a proxy's. */
export function problemOf({ headers, body }) {
  return headers.get("content-type") === "application/problem+json" ? JSON.parse(new TextDecoder().decode(body)) : {}
}

/** @returns {CaravanError} what the server answered instead of doing it */
export function refusal(method, path, answer) {
  const { code, detail } = problemOf(answer)
  return new CaravanError(`${method} ${path}: ${answer.status} ${detail ?? ""}`.trimEnd(), { status: answer.status, code })
}
