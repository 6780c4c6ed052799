/** One document: its values, what comes next, and what can be done to it. */

import {html, nothing} from '../../vendor/lit-html/lit-html.js';
import {call, isStream, json, nameOf, query, save, under} from '../api.js';
import {confirm} from '../dialogs.js';
import {bytes, count, moment, plural, visible} from '../format.js';
import {VIEWS, show} from '../values.js';

export const title = 'Document';

const PAGE = 50;
const MAX_KEPT = 500;

let path = '';
let info = null;
let values = [];
let problem = '';
let missing = false;
let chosenView = 'auto';
let following = null;
let note = '';
let redraw = () => {};

const valuesPath = (parameters) => under('/v1/values/', path) + '?' + query(parameters);

export function enter(parameters, update) {
  redraw = update;
  path = parameters.get('path') ?? '';
  info = null;
  values = [];
  note = '';
  missing = false;
  problem = isStream(path) ? '' : 'This address names no document.';
  if (!problem) latest();
}

export function leave() {
  following?.abort();
  following = null;
}

async function load(parameters) {
  try {
    const page = await json(valuesPath(parameters));
    info = page;
    values = page.values;
    problem = '';
    missing = false;
  } catch (refused) {
    problem = refused.message;
    missing = refused.status === 404;
    info = null;
    values = [];
  }
  redraw();
}

const latest = () => load({newest: true, limit: PAGE});

const offset = (sequence) => String(sequence).padStart(16, '0') + '_' + '0'.repeat(16);

const older = () => {
  const from = Math.max(info.firstSequence, values[0].sequence - PAGE);
  return load({offset: offset(from), limit: Math.max(1, values[0].sequence - from)});
};

const newer = () => load({offset: info.continueAt, limit: PAGE});

/** Waits for what comes next, and shows it, until told to stop. */
async function follow() {
  if (following) {
    leave();
    return redraw();
  }
  const mine = (following = new AbortController());
  await latest();
  while (following === mine && info) {
    try {
      await next(mine.signal);
    } catch (refused) {
      if (refused.name !== 'AbortError') problem = refused.message;
      if (following === mine) leave();
    }
    redraw();
  }
}

async function next(signal) {
  const at = info.nextOffset;
  const answer = await call('GET', path + '?' + query({offset: at, live: 'long-poll'}), {signal});
  await answer.body?.cancel();
  const page = await json(valuesPath({offset: at}), {signal});
  values = [...values, ...page.values].slice(-MAX_KEPT);
  // There may be more than a page of them.
  info = {...page, nextOffset: page.continueAt};
  if (page.closed) leave();
}

async function append(event) {
  event.preventDefault();
  const form = event.target;
  const text = new FormData(form).get('value');
  try {
    const contentType = info?.contentType ?? new FormData(form).get('type');
    if (!info) await call('PUT', path, {headers: {'Content-Type': contentType}});
    await call('POST', path, {body: new TextEncoder().encode(text), headers: {'Content-Type': contentType}});
    form.reset();
    note = 'Appended: it is durable.';
    if (!following) await latest();
  } catch (refused) {
    note = '';
    problem = refused.message;
  }
  redraw();
}

async function trim(event) {
  event.preventDefault();
  const to = Math.min(info.nextSequence, Number(new FormData(event.target).get('to')));
  const dropped = Math.max(0, to - info.firstSequence);
  const done = await confirm({
    title: `Trim ${visible(nameOf(path))}?`,
    text: html`<p>
        This drops the ${plural(dropped, 'oldest value')}${dropped ? `, sequences ${info.firstSequence} to ${to - 1}` : ''}, and keeps
        ${count(info.nextSequence - info.firstSequence - dropped)}. Sequences do not change.
      </p>
      <p>${lasting()}</p>`,
    verb: `Drop ${plural(dropped, 'value')}`,
    act: () => call('POST', path + '?' + query({trim: offset(to)})),
  });
  if (done) {
    note = `${plural(dropped, 'value')} dropped.`;
    await latest();
  }
}

const lasting = () =>
  info.archived
    ? 'It cannot be undone; the archive has the document as it is now until it is pruned, and can restore it under another name.'
    : 'It cannot be undone, and the archive does not have the document as it is now.';

async function remove() {
  const held = info.nextSequence - info.firstSequence;
  const done = await confirm({
    title: `Delete ${visible(nameOf(path))}?`,
    text: html`<p>This deletes the document with its ${plural(held, 'value')}, ${bytes(info.bytes)}, for everybody. Whoever follows it is told that it is gone.</p>
      <p>${lasting()}</p>`,
    verb: `Delete ${plural(held, 'value')}`,
    act: () => call('DELETE', path),
  });
  if (done) location.hash = '#/documents?' + query({prefix: nameOf(path).replace(/[^/]*$/, '')});
}

async function download(value) {
  const answer = await call('GET', valuesPath({offset: value.offset, raw: true}));
  save(await answer.blob(), `${nameOf(path)}-${value.sequence}`);
}

async function downloadAll() {
  const answer = await call('GET', path);
  save(await answer.blob(), nameOf(path));
}

export function view() {
  return html`<div class="head"><h1 tabindex="-1" class="name">${isStream(path) ? visible(nameOf(path)) : title}</h1></div>
    ${problem && !missing ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
    ${info ? there() : missing ? absent() : nothing}`;
}

const absent = () => html`<div class="card">
  <p>There is no such document. Append the first value to create it.</p>
  ${appendForm(
    html`<label for="type">Content type</label>
      <input id="type" name="type" value="text/plain" required autocomplete="off" />`,
  )}
  <p><a href=${'#/archive?' + query({path})}>Look for it in the archive</a></p>
</div>`;

function there() {
  const held = info.nextSequence - info.firstSequence;
  return html`<p class="about">
      ${plural(held, 'value')}, ${bytes(info.bytes)}, ${info.contentType}${info.closed ? ', closed' : ''}; sequences from
      ${count(info.firstSequence)}, next ${count(info.nextSequence)}; ${info.archived ? 'archived as it is' : 'not archived as it is'}
    </p>
    <div class="bar-of-buttons">
      <button aria-pressed=${following ? 'true' : 'false'} class=${following ? 'primary' : ''} @click=${follow}>
        ${following ? 'Following' : 'Follow'}
      </button>
      <label for="view">Show as</label>
      <select id="view" @change=${(event) => { chosenView = event.target.value; redraw(); }}>
        ${VIEWS.map(([key, label]) => html`<option value=${key} ?selected=${key === chosenView}>${label}</option>`)}
      </select>
      <button @click=${downloadAll}>Download all</button>
      <a class="button" href=${'#/archive?' + query({path})}>Generations</a>
    </div>
    <p role="status" class="muted">${note}</p>
    ${info.closed ? nothing : html`<div class="card">${appendForm(nothing)}</div>`} ${list()}
    <section class="card ending">
      <h2>Trim and delete</h2>
      <form class="inline" @submit=${trim}>
        <div>
          <label for="to">Drop values before sequence</label>
          <input id="to" name="to" type="number" required min=${info.firstSequence} max=${info.nextSequence} .value=${String(info.firstSequence)} />
        </div>
        <button>Trim…</button>
        <button type="button" class="danger" @click=${remove}>Delete the document…</button>
      </form>
    </section>`;
}

const appendForm = (more) => html`<form @submit=${append} class="append">
  ${more}
  <label for="value">Append a value</label>
  <textarea id="value" name="value" rows="2" required spellcheck="false"></textarea>
  <div class="actions"><button class="primary">Append</button></div>
</form>`;

function list() {
  if (!values.length) return html`<p>It has no values.</p>`;
  const first = values[0].sequence;
  const last = values.at(-1).sequence;
  return html`<div class="pager">
      <button ?disabled=${first <= info.firstSequence || following} @click=${older}>Older</button>
      <span>Sequences ${count(first)} to ${count(last)}</span>
      <button ?disabled=${last + 1 >= info.nextSequence || following} @click=${newer}>Newer</button>
    </div>
    <ol class="values" aria-label="Values">${values.map(row)}</ol>`;
}

function row(value) {
  const {view: shown, text} = show(value, chosenView);
  const cut = (value.decoded?.length ?? 0) < value.bytes;
  return html`<li class="value">
    <div class="meta">
      <b>${count(value.sequence)}</b> <span>${bytes(value.bytes)}, ${shown}${value.time ? `, came ${moment(value.time)}` : ''}</span>
      <button class="quiet" @click=${() => download(value)} aria-label=${`Download value ${value.sequence}`}>Download</button>
    </div>
    <pre tabindex="0" aria-label=${`Value ${value.sequence}`}>${text}</pre>
    ${cut ? html`<p class="muted">The first ${bytes(value.decoded.length)} are shown.</p>` : nothing}
  </li>`;
}
