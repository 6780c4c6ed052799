/** One document: its values, its new values, and the actions on it. */

import {html, nothing} from '../../vendor/lit-html/lit-html.js';
import {call, isStream, json, nameOf, query, save, under} from '../api.js';
import {confirm} from '../dialogs.js';
import {bytes, count, moment, plural, visible} from '../format.js';
import {VIEWS, show} from '../values.js';

export const title = 'Document';

const PAGE = 50;
const MAX_KEPT = 500;

/** The request made when the page was opened. A response that arrives after the page was left is ignored. */
const visit = (path) => ({path, info: null, values: [], problem: '', missing: false, note: '', following: null});

let shown = visit('');
let chosenView = 'auto';
let redraw = () => {};

const valuesPath = (path, parameters) => under('/v1/values/', path) + '?' + query(parameters);

export function enter(parameters, update) {
  redraw = update;
  shown = visit(parameters.get('path') ?? '');
  if (isStream(shown.path)) latest(shown);
  else shown.problem = 'This address contains no document name.';
}

export function leave() {
  stop(shown);
}

function stop(mine) {
  mine.following?.abort();
  mine.following = null;
}

async function load(mine, parameters) {
  try {
    const page = await json(valuesPath(mine.path, parameters));
    Object.assign(mine, {info: page, values: page.values, problem: '', missing: false});
  } catch (refused) {
    Object.assign(mine, {info: null, values: [], problem: refused.message, missing: refused.status === 404});
  }
  redraw();
}

const latest = (mine) => load(mine, {newest: true, limit: PAGE});

const offset = (sequence) => String(sequence).padStart(16, '0') + '_' + '0'.repeat(16);

const older = () => {
  const {info, values} = shown;
  const from = Math.max(info.firstSequence, values[0].sequence - PAGE);
  return load(shown, {offset: offset(from), limit: Math.max(1, values[0].sequence - from)});
};

const newer = () => load(shown, {offset: shown.info.continueAt, limit: PAGE});

/** Waits for new values and shows them, until the user stops it. */
async function follow() {
  const mine = shown;
  if (mine.following) {
    stop(mine);
    return redraw();
  }
  const here = (mine.following = new AbortController());
  await latest(mine);
  while (mine.following === here && mine.info) {
    try {
      await next(mine, here.signal);
    } catch (refused) {
      if (refused.name !== 'AbortError') mine.problem = refused.message;
      if (mine.following === here) stop(mine);
    }
    redraw();
  }
}

async function next(mine, signal) {
  const at = mine.info.nextOffset;
  const answer = await call('GET', mine.path + '?' + query({offset: at, live: 'long-poll'}), {signal});
  await answer.body?.cancel();
  const page = await json(valuesPath(mine.path, {offset: at}), {signal});
  mine.values = [...mine.values, ...page.values].slice(-MAX_KEPT);
  // There may be more than one page.
  mine.info = {...page, nextOffset: page.continueAt};
  if (page.closed) stop(mine);
}

async function append(event) {
  event.preventDefault();
  const mine = shown;
  const form = event.target;
  const text = new FormData(form).get('value');
  try {
    const contentType = mine.info?.contentType ?? new FormData(form).get('type');
    if (!mine.info) await call('PUT', mine.path, {headers: {'Content-Type': contentType}});
    await call('POST', mine.path, {body: new TextEncoder().encode(text), headers: {'Content-Type': contentType}});
    form.reset();
    mine.note = 'Appended: it is durable.';
    if (!mine.following) await latest(mine);
  } catch (refused) {
    mine.note = '';
    mine.problem = refused.message;
  }
  redraw();
}

async function trim(event) {
  event.preventDefault();
  const mine = shown;
  const {path, info} = mine;
  const to = Math.min(info.nextSequence, Number(new FormData(event.target).get('to')));
  const dropped = Math.max(0, to - info.firstSequence);
  const done = await confirm({
    title: `Trim ${visible(nameOf(path))}?`,
    text: html`<p>
        This removes the ${plural(dropped, 'oldest value')}${dropped ? `, sequences ${info.firstSequence} to ${to - 1}` : ''}, and keeps
        ${count(info.nextSequence - info.firstSequence - dropped)}. Sequences do not change.
      </p>
      <p>${lasting(info)}</p>`,
    verb: `Remove ${plural(dropped, 'value')}`,
    act: () => call('POST', path + '?' + query({trim: offset(to)})),
  });
  if (done) {
    mine.note = `${plural(dropped, 'value')} removed.`;
    await latest(mine);
  }
}

const lasting = (info) =>
  info.archived
    ? 'This cannot be undone. The archive has the current document and can restore it until it is pruned.'
    : 'This cannot be undone, and the archive does not have the current document.';

async function remove() {
  const mine = shown;
  const {path, info} = mine;
  const held = info.nextSequence - info.firstSequence;
  const done = await confirm({
    title: `Delete ${visible(nameOf(path))}?`,
    text: html`<p>This deletes the document with its ${plural(held, 'value')}, ${bytes(info.bytes)}. Clients that follow the document are notified.</p>
      <p>${lasting(info)}</p>`,
    verb: `Delete ${plural(held, 'value')}`,
    act: () => call('DELETE', path),
  });
  if (done && mine === shown) location.hash = '#/documents?' + query({prefix: nameOf(path).replace(/[^/]*$/, '')});
}

async function download(value) {
  const {path} = shown;
  const answer = await call('GET', valuesPath(path, {offset: value.offset, raw: true}));
  save(await answer.blob(), `${nameOf(path)}-${value.sequence}`);
}

async function downloadAll() {
  const {path} = shown;
  const answer = await call('GET', path);
  save(await answer.blob(), nameOf(path));
}

export function view() {
  const {path, info, problem, missing} = shown;
  return html`<div class="head"><h1 tabindex="-1" class="name">${isStream(path) ? visible(nameOf(path)) : title}</h1></div>
    ${problem && !missing ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
    ${info ? there() : missing ? absent() : nothing}`;
}

const absent = () => html`<div class="card">
  <p>This document does not exist. Append a value to create it.</p>
  ${appendForm(
    html`<label for="type">Content type</label>
      <input id="type" name="type" value="text/plain" required autocomplete="off" />`,
  )}
  <p><a href=${'#/archive?' + query({path: shown.path})}>Find it in the archive</a></p>
</div>`;

function there() {
  const {path, info, note, following} = shown;
  const held = info.nextSequence - info.firstSequence;
  return html`<p class="about">
      ${plural(held, 'value')}, ${bytes(info.bytes)}, ${info.contentType}${info.closed ? ', closed' : ''}; sequences from
      ${count(info.firstSequence)}, next ${count(info.nextSequence)}; ${info.archived ? 'archived' : 'not archived in its current state'}
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
          <label for="to">Remove values before sequence</label>
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
  const {info, values, following} = shown;
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
  const {view: as, text} = show(value, chosenView);
  const cut = (value.decoded?.length ?? 0) < value.bytes;
  return html`<li class="value">
    <div class="meta">
      <b>${count(value.sequence)}</b> <span>${bytes(value.bytes)}, ${as}${value.time ? `, came ${moment(value.time)}` : ''}</span>
      <button class="quiet" @click=${() => download(value)} aria-label=${`Download value ${value.sequence}`}>Download</button>
    </div>
    <pre tabindex="0" aria-label=${`Value ${value.sequence}`}>${text}</pre>
    ${cut ? html`<p class="muted">The first ${bytes(value.decoded.length)} are shown.</p>` : nothing}
  </li>`;
}
