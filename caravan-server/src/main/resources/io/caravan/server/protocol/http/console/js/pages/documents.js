/**
 * Documents by prefix. The server lists them in no particular order, each on exactly one page. Therefore, no list is shown
 * as complete before the last page has arrived.
 */

import {html, nothing} from '../../vendor/lit-html/lit-html.js';
import {json, query, streamPath} from '../api.js';
import {bytes, count, plural, visible} from '../format.js';

export const title = 'Documents';

const PAGE = 1000;
const MAX_SHOWN = 500;
const MAX_KEPT = 20_000;
const TOP = 10;

let prefix = '';
let delimiter = '/';
let walk = null;
let redraw = () => {};

export function enter(parameters, update) {
  redraw = update;
  prefix = parameters.get('prefix') ?? '';
  delimiter = parameters.get('delimiter') ?? '/';
  begin();
}

export function leave() {
  walk?.stop.abort();
}

function begin() {
  walk?.stop.abort();
  walk = {
    documents: [], prefixes: new Map(), longest: [], largest: [], found: 0, pages: 0,
    done: false, problem: '', stop: new AbortController(),
  };
  go(walk);
}

async function go(mine) {
  let cursor = '';
  try {
    do {
      const page = await json(
        '/v1/documents?' + query({prefix, delimiter, cursor, limit: PAGE, sizes: true}),
        {signal: mine.stop.signal},
      );
      take(mine, page);
      cursor = page.cursor;
      redraw();
    } while (cursor);
    mine.done = true;
  } catch (refused) {
    if (refused.name !== 'AbortError') mine.problem = refused.message;
    else mine.stopped = true;
  }
  redraw();
}

function take(mine, page) {
  mine.pages++;
  for (const [name, documents] of Object.entries(page.prefixes ?? {})) {
    mine.prefixes.set(name, (mine.prefixes.get(name) ?? 0) + documents);
    mine.found += documents;
  }
  mine.found += page.documents.length;
  for (const each of page.documents) {
    if (mine.documents.length < MAX_KEPT) mine.documents.push(each);
    top(mine.longest, each, 'values');
    top(mine.largest, each, 'bytes');
  }
}

function top(list, each, key) {
  list.push(each);
  list.sort((a, b) => b[key] - a[key]);
  list.length = Math.min(list.length, TOP);
}

const here = (p, d) => '#/documents?' + new URLSearchParams({prefix: p, delimiter: d});
const open = (each) => '#/document?' + query({path: each.path});

function look(event) {
  event.preventDefault();
  const form = new FormData(event.target);
  const next = here(form.get('prefix'), form.get('delimiter'));
  if (location.hash === next) begin();
  else location.hash = next;
}

function create(event) {
  event.preventDefault();
  const name = new FormData(event.target).get('name');
  location.hash = '#/document?' + query({path: streamPath(name)});
}

/** The ancestors of this prefix, each of which is also a prefix. */
function crumbs() {
  if (!delimiter) return nothing;
  const steps = prefix.split(delimiter).slice(0, -1);
  return html`<nav class="crumbs" aria-label="Way to this prefix">
    <a href=${here('', delimiter)}>all documents</a>
    ${steps.map(
      (step, i) => html` <span aria-hidden="true">›</span>
        <a href=${here(steps.slice(0, i + 1).join(delimiter) + delimiter, delimiter)}>${visible(step || delimiter)}</a>`,
    )}
  </nav>`;
}

export function view() {
  return html`<div class="head"><h1 tabindex="-1">Documents</h1></div>
    <div class="card forms">
      <form @submit=${look} class="inline">
        <div class="grow"><label for="prefix">Prefix</label><input id="prefix" name="prefix" .value=${prefix} autocomplete="off" spellcheck="false" /></div>
        <div><label for="delimiter">Delimiter</label><input id="delimiter" name="delimiter" size="3" .value=${delimiter} autocomplete="off" /></div>
        <button class="primary">List</button>
      </form>
      <form @submit=${create} class="inline">
        <div class="grow"><label for="name">Open by full name</label><input id="name" name="name" required autocomplete="off" spellcheck="false" /></div>
        <button>Open</button>
      </form>
    </div>
    ${crumbs()} ${walk ? listing(walk) : nothing}`;
}

function listing(mine) {
  const names = [...mine.prefixes].sort(([a], [b]) => (a < b ? -1 : 1));
  const sorted = mine.documents.slice().sort((a, b) => (a.name < b.name ? -1 : 1));
  return html`${mine.problem ? html`<p class="problem" role="alert">${mine.problem}</p>` : nothing}
    <p role="status" class="muted">${progress(mine)}</p>
    ${sorted.length > 1 ? extremes(mine) : nothing}
    ${names.length || sorted.length ? table(names, sorted) : nothing}
    ${prefix === '' && delimiter
      ? html`<p><a href=${here('', '')}>List all documents without a delimiter</a> to find the longest and largest of all.</p>`
      : nothing}`;
}

function progress(mine) {
  if (mine.done) return mine.found ? `${plural(mine.found, 'document')}, complete.` : 'No document has this prefix.';
  if (mine.problem || mine.stopped) return `Incomplete: ${plural(mine.found, 'document')} found before the listing ended.`;
  return html`${plural(mine.found, 'document')} so far, from ${plural(mine.pages, 'page')}…
    <button class="quiet" @click=${() => mine.stop.abort()}>Stop</button>`;
}

const table = (names, sorted) => html`<div class="card scroll" tabindex="0" role="region" aria-label="Documents">
  <table class="documents">
    <thead>
      <tr><th scope="col">Name</th><th scope="col">Values</th><th scope="col">Size</th><th scope="col">Type</th></tr>
    </thead>
    <tbody>
      ${names.slice(0, MAX_SHOWN).map(
        ([name, documents]) => html`<tr>
          <th scope="row"><a class="folder" href=${here(name, delimiter)}>${visible(name.slice(prefix.length))}</a></th>
          <td colspan="3" class="muted">${plural(documents, 'document')}</td>
        </tr>`,
      )}
      ${sorted.slice(0, MAX_SHOWN).map(
        (each) => html`<tr>
          <th scope="row"><a href=${open(each)}>${visible(each.name.slice(prefix.length) || each.name)}</a></th>
          <td>${count(each.values)}</td>
          <td class="whole">${bytes(each.bytes)}</td>
          <td class="muted">${each.contentType}${each.closed ? ', closed' : ''}</td>
        </tr>`,
      )}
    </tbody>
  </table>
  ${names.length > MAX_SHOWN || sorted.length > MAX_SHOWN
    ? html`<p class="muted">The first ${MAX_SHOWN} of each are shown. Enter a longer prefix to find the others.</p>`
    : nothing}
</div>`;

const extremes = (mine) => html`<div class="two">
  ${topList('Longest here', mine.longest, (each) => plural(each.values, 'value'))}
  ${topList('Largest here', mine.largest, (each) => bytes(each.bytes))}
</div>`;

const topList = (heading, list, figure) => html`<section class="card">
  <h2>${heading}</h2>
  <ol class="top">${list.map((each) => html`<li><a href=${open(each)}>${visible(each.name)}</a> <b>${figure(each)}</b></li>`)}</ol>
</section>`;
