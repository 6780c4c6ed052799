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

/** A request; `path` begins with a slash, as the server's own paths do. */
export async function call(method, path, {body, headers = {}, signal} = {}) {
  const secret = token.get();
  const all = secret ? {...headers, Authorization: `Bearer ${secret}`} : headers;
  let response;
  try {
    response = await fetch(new URL(path.slice(1), ROOT), {method, body, headers: all, signal, cache: 'no-store'});
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

/** The path of a document's stream below another prefix. */
export const under = (prefix, streamPath) => prefix + streamPath.slice('/v1/stream/'.length);

/** The path of a document's stream, by the document's name. */
export const streamPath = (name) => '/v1/stream/' + encodeURIComponent(name);

/** The name that a stream's path has, as people read it. */
export function nameOf(path) {
  const encoded = path.slice('/v1/stream/'.length);
  try {
    return decodeURIComponent(encoded);
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
