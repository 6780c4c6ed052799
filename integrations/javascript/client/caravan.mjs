// A server: its address, its token, and the timeouts of requests.
import { setTimeout as sleep } from "node:timers/promises"

/**
 * A request that the server rejected or did not answer in time. In the latter case, a write may or may not have
 * happened.
 */
export class CaravanError extends Error {
  /**
   * @param {string} message the description of the failure
   * @param {{ status?: number, code?: string, cause?: unknown }} [details] the details of the response, if any
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
 * @property {string} [url] the HTTP address of the server
 * @property {string} [token] the bearer token
 * @property {number} [timeoutMs] the timeout of one attempt
 * @property {number} [patienceMs] the time during which a request is retried while the server is unavailable or busy
 * @property {number} [maxValueBytes] the server's `--max-value`; longer records are stored in parts
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
   * Sends a request. Retries for `patienceMs` while the server is unavailable or busy, so the server may execute the
   * request more than once. `attempts` is the number of attempts.
   *
   * @param {string} method
   * @param {string} path
   * @param {{ headers?: Record<string, string>, body?: Uint8Array, expect: number[] }} options `expect`: the statuses
   *     of success; all others are errors
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

/** Matches names whose plain path clients or proxies rewrite or the server reserves. */
const REWRITTEN = /(^|\/)\.{0,2}\/|(^|\/)\.{1,2}$|^__ds$|^__(ds|name)\//

const code = (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`

/**
 * @param {string} name the name of a document
 * @returns {string} the form of the name in the server's paths, spelled as the server does
 */
export function pathOf(name) {
  const encoded = encodeURIComponent(name).replace(/[!*'()]/g, code)
  return REWRITTEN.test(name)
    ? `__name/${encoded.replace(/[.~]/g, code).replaceAll("%", "~")}`
    : encoded.replaceAll("%2F", "/")
}

/**
 * Returns the `application/problem+json` of a response, or an empty object if it has another type, such as that of a
 * proxy.
 */
export function problemOf({ headers, body }) {
  return headers.get("content-type") === "application/problem+json" ? JSON.parse(new TextDecoder().decode(body)) : {}
}

/** @returns {CaravanError} the error of a response that rejects the request */
export function refusal(method, path, answer) {
  const { code, detail } = problemOf(answer)
  return new CaravanError(`${method} ${path}: ${answer.status} ${detail ?? ""}`.trimEnd(), { status: answer.status, code })
}
