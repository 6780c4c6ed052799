/** The server's public endpoints, below the folder that the console's own is in. */

const ROOT = new URL('../', document.baseURI);
const KEY = 'caravan-token';

/** What the server refused, in its own words. */
export class Refusal extends Error {
  constructor(status, problem) {
    super(problem.detail || `the server answered with status ${status}`);
    this.status = status;
    this.code = problem.code || '';
  }
}

export const token = {
  get: () => sessionStorage.getItem(KEY) || '',
  set: (text) => (text ? sessionStorage.setItem(KEY, text) : sessionStorage.removeItem(KEY)),
};

let strangers = () => {};

/** Calls the action when the server wants a token that it has not got. */
export const onStranger = (action) => (strangers = action);

/** A request; `path` begins with a slash, as the server's own paths do. One that a browser would rewrite is not sent. */
export async function call(method, path, {body, headers = {}, signal} = {}) {
  const address = new URL(path.slice(1), ROOT);
  if (address.href !== ROOT.href + path.slice(1)) {
    throw new Refusal(0, {code: 'rewritten_address', detail: `A browser would send this to another address: ${path}`});
  }
  const secret = token.get();
  const all = secret ? {...headers, Authorization: `Bearer ${secret}`} : headers;
  let response;
  try {
    response = await fetch(address, {method, body, headers: all, signal, cache: 'no-store'});
  } catch (problem) {
    if (problem.name === 'AbortError') throw problem;
    throw new Refusal(0, {code: 'unreachable', detail: 'The server cannot be reached.'});
  }
  if (response.ok) return response;
  const problem = await response.json().catch(() => ({}));
  if (response.status === 401) strangers();
  throw new Refusal(response.status, problem);
}

export const json = async (path, options) => (await call('GET', path, options)).json();

export const query = (parameters) =>
  new URLSearchParams(Object.entries(parameters).filter(([, value]) => value !== '' && value != null)).toString();

const STREAMS = '/v1/stream/';
const ESCAPED = '__name/';
/** Names whose plain path browsers or proxies rewrite, or the server reserves: as StreamName.java has it. */
const REWRITTEN = /(^|\/)\.{0,2}\/|(^|\/)\.{1,2}$|^__ds$|^__(ds|name)\//;

/** The path of a document's stream below another prefix. */
export const under = (prefix, path) => prefix + path.slice(STREAMS.length);

/** Whether this is the path of a stream, and not of something else. */
export const isStream = (path) => path.startsWith(STREAMS);

const code = (c) => '%' + c.charCodeAt(0).toString(16).toUpperCase();

/** The path of a document's stream, by the document's name, spelled as the server does. */
export function streamPath(name) {
  const encoded = encodeURIComponent(name).replace(/[!*'()]/g, code);
  return REWRITTEN.test(name)
    ? STREAMS + ESCAPED + encoded.replace(/[.~]/g, code).replaceAll('%', '~')
    : STREAMS + encoded.replaceAll('%2F', '/');
}

/** The name that a stream's path has, as people read it. */
export function nameOf(path) {
  const encoded = path.slice(STREAMS.length);
  try {
    return decodeURIComponent(encoded.startsWith(ESCAPED) ? encoded.slice(ESCAPED.length).replaceAll('~', '%') : encoded);
  } catch {
    return encoded;
  }
}

/** A file for the browser to keep. */
export function save(blob, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(blob);
  link.download = name.replace(/[^\w.-]+/g, '_');
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}
