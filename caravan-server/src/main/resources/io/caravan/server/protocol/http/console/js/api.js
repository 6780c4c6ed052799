/** The server's public endpoints, relative to the parent directory of the console. */

const ROOT = new URL('../', document.baseURI);
const KEY = 'caravan-token';

/** A request that the server rejected, with the server's message. */
export class Rejection extends Error {
  constructor(status, problem) {
    super(problem.detail || `the server responded with status ${status}`);
    this.status = status;
    this.code = problem.code || '';
  }
}

export const token = {
  get: () => sessionStorage.getItem(KEY) || '',
  set: (text) => (text ? sessionStorage.setItem(KEY, text) : sessionStorage.removeItem(KEY)),
};

let strangers = () => {};

/** Calls the action when the server responds with status 401: the request had no valid token. */
export const onStranger = (action) => (strangers = action);

/** Sends a request; `path` starts with a slash, like the server's paths. Paths that a browser would rewrite are not sent. */
export async function call(method, path, {body, headers = {}, signal} = {}) {
  const address = new URL(path.slice(1), ROOT);
  if (address.href !== ROOT.href + path.slice(1)) {
    throw new Rejection(0, {code: 'rewritten_address', detail: `The browser would change this address: ${path}`});
  }
  const secret = token.get();
  const all = secret ? {...headers, Authorization: `Bearer ${secret}`} : headers;
  let response;
  try {
    response = await fetch(address, {method, body, headers: all, signal, cache: 'no-store'});
  } catch (problem) {
    if (problem.name === 'AbortError') throw problem;
    throw new Rejection(0, {code: 'unreachable', detail: 'The server cannot be reached.'});
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  if (response.status === 401) strangers();
  throw new Rejection(response.status, problem);
}

export const json = async (path, options) => (await call('GET', path, options)).json();

/**
 * Returns a resource that a page requests when the page opens, and then regularly while it is open and visible. `path`
 * returns the resource's path, and `accept` decides whether to take a response as the value. The page exports `enter` and
 * `leave`, or calls them.
 */
export function polled(path, millis, accept = () => true) {
  let timer = 0;
  let redraw = () => {};
  async function ask() {
    try {
      if (!document.hidden) {
        const found = await json(path());
        if (accept(found)) poll.value = found;
      }
      poll.problem = '';
    } catch (refused) {
      poll.problem = refused.message;
    }
    redraw();
    clearTimeout(timer);
    if (timer !== 0) timer = setTimeout(ask, millis);
  }
  const poll = {
    value: null,
    problem: '',
    ask,
    enter(_, update) {
      redraw = update;
      timer = -1;
      ask();
    },
    leave() {
      clearTimeout(timer);
      timer = 0;
    },
  };
  return poll;
}

export const query = (parameters) =>
  new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== '' && value != null)).toString();

const STREAMS = '/v1/stream/';
const ESCAPED = '__name/';
/** Names whose plain path browsers or proxies rewrite, or that the server reserves. Must match StreamName.java. */
const REWRITTEN = /(^|\/)\.{0,2}\/|(^|\/)\.{1,2}$|^__ds$|^__(ds|name)\//;

/** The path of a document's stream under another prefix. */
export const under = (prefix, path) => prefix + path.slice(STREAMS.length);

/** Whether this is the path of a stream. */
export const isStream = (path) => path.startsWith(STREAMS);

const code = (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase();

/** The path of a document's stream, encoded as by the server. */
export function streamPath(name) {
  const encoded = encodeURIComponent(name).replace(/[!*'()]/g, code);
  return REWRITTEN.test(name)
    ? STREAMS + ESCAPED + encoded.replace(/[.~]/g, code).replaceAll('%', '~')
    : STREAMS + encoded.replaceAll('%2F', '/');
}

/** The decoded name in a stream's path. */
export function nameOf(path) {
  const encoded = path.slice(STREAMS.length);
  try {
    return decodeURIComponent(encoded.startsWith(ESCAPED) ? encoded.slice(ESCAPED.length).replaceAll('~', '%') : encoded);
  } catch {
    return encoded;
  }
}

/** Saves a file through the browser. */
export function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[^\w.-]+/g, '_');
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
