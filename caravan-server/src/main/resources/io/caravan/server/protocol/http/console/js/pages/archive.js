/** The archive: its progress, the results of its drills, and the generations of a document. */

import {html, nothing} from '../../vendor/lit-html/lit-html.js';
import {call, isStream, json, nameOf, polled, query, streamPath, under} from '../api.js';
import {confirm} from '../dialogs.js';
import {bytes, count, moment, plural, seconds, visible} from '../format.js';

export const title = 'Archive';

const poll = polled(() => '/v1/archive', 3000);
export const {leave} = poll;

let path = '';
let found = null;
let foundProblem = '';
let note = '';
let redraw = () => {};

export function enter(parameters, update) {
  redraw = update;
  const given = parameters.get('path') ?? '';
  const asked = isStream(given) ? given : '';
  if (asked !== path) {
    path = asked;
    found = null;
    note = '';
  }
  foundProblem = '';
  poll.enter(parameters, update);
  if (path) look();
}

async function look() {
  const asked = path;
  let answer = null;
  let refusal = '';
  try {
    answer = await json(under('/v1/archive/stream/', asked));
  } catch (refused) {
    refusal = refused.message;
  }
  // Ignores a response about a document that is no longer shown.
  if (asked !== path) return;
  found = answer;
  foundProblem = refusal;
  redraw();
}

function choose(event) {
  event.preventDefault();
  const next = '#/archive?' + query({path: streamPath(new FormData(event.target).get('document'))});
  if (location.hash === next) look();
  else location.hash = next;
}

async function restore(generation) {
  const asked = path;
  const name = nameOf(asked);
  let as = name;
  const done = await confirm({
    title: `Restore generation ${generation.number}?`,
    text: html`<p>
        It has ${plural(generation.values, 'value')}, ${bytes(generation.valueBytes)}, as they were at ${moment(generation.takenAt)}.
      </p>
      <label for="as">Restore as</label>
      <input id="as" .value=${as} @input=${(event) => (as = event.target.value)} required autocomplete="off" spellcheck="false" />
      <p>
        If a document with this name exists, the server appends only the values after its last value, and never removes any.
        If not, the server creates the document.
      </p>`,
    verb: 'Restore',
    danger: false,
    act: async () => {
      const parameters = {generation: generation.number, as: as === name ? '' : as};
      return (await call('POST', under('/v1/archive/stream/', asked) + '?' + query(parameters))).json();
    },
  });
  if (done && asked === path) {
    note = html`${plural(done.added, 'value')} restored:
      <a href=${'#/document?' + query({path: done.path})}>${visible(nameOf(done.path))}</a>`;
    redraw();
  }
}

export function view() {
  const {value: status, problem} = poll;
  return html`<div class="head"><h1 tabindex="-1">Archive</h1></div>
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
    ${status ? (status.archive ? state(status) : none()) : nothing}
    ${!status || status.archive ? generations() : nothing}`;
}

function ago(millis) {
  const past = (Date.now() - millis) / 1000;
  return past < 1 ? 'just now' : `${seconds(past)} ago`;
}

const none = () => html`<div class="card">
  <p>This server has no archive. If its disk is lost, its data is lost. Set an archive with <code>--archive</code>.</p>
</div>`;

const tile = (label, value, text = '') => html`<div class="tile"><dt>${label}</dt><dd>${value}<small>${text}</small></dd></div>`;

function state({archive, drills, hydration}) {
  const last = drills?.last;
  return html`<dl class="tiles">
      ${tile('State', archive.state.toLowerCase(), archive.location)}
      ${tile(
        'Lag',
        seconds(archive.lagSeconds),
        archive.overdueSeconds ? `${seconds(archive.overdueSeconds)} overdue` : 'age of the oldest change that is not archived',
      )}
      ${tile('Waiting', count(archive.backlog), 'changes')}
      ${tile('Archived', count(archive.documents), `snapshots, ${bytes(archive.bytes)} since the start`)}
      ${tile('Last success', archive.lastSuccessMillis ? ago(archive.lastSuccessMillis) : 'none', archive.lastSuccessMillis ? moment(archive.lastSuccessMillis) : 'since the start')}
      ${tile(
        'Last drill',
        drills ? (last ? (last.failures.length ? 'failed' : 'passed') : 'none yet') : 'off',
        last
          ? `${plural(last.documents, 'document')}, ${moment(last.finishedMillis)}`
          : drills ? 'since the start' : '--drill turns them on',
      )}
      ${hydration ? tile('Fetched on demand', count(hydration.documents), `${count(hydration.failures)} failed`) : nothing}
    </dl>
    ${archive.lastError
      ? html`<p class="problem">Last failure, ${moment(archive.lastError.atMillis)}: ${archive.lastError.message}</p>`
      : nothing}
    ${last?.failures.map((failure) => html`<p class="problem">${failure}</p>`)}`;
}

const generations = () => html`<section class="card">
  <h2>Generations of a document</h2>
  <form class="inline" @submit=${choose}>
    <div class="grow">
      <label for="document">Full name</label>
      <input id="document" name="document" required .value=${path ? nameOf(path) : ''} autocomplete="off" spellcheck="false" />
    </div>
    <button class="primary">Find</button>
  </form>
  ${foundProblem ? html`<p class="problem" role="alert">${foundProblem}</p>` : nothing}
  <p role="status">${note}</p>
  ${found ? table() : nothing}
</section>`;

const table = () => html`${found.deletedAt ? html`<p>It was deleted at ${moment(found.deletedAt)}.</p>` : nothing}
  <div class="scroll" tabindex="0" role="region" aria-label="Generations">
    <table>
      <thead>
        <tr><th scope="col">Generation</th><th scope="col">Taken</th><th scope="col">Values</th><th scope="col">Size</th>
        <th scope="col">In the archive</th><th scope="col"><span class="unseen">Actions</span></th></tr>
      </thead>
      <tbody>
        ${found.generations.map(
          (each) => html`<tr>
            <th scope="row">${each.number}</th>
            <td>${moment(each.takenAt)}</td>
            <td>${count(each.values)}</td>
            <td>${bytes(each.valueBytes)}</td>
            <td>${bytes(each.objectBytes)}</td>
            <td><button @click=${() => restore(each)} aria-label=${`Restore generation ${each.number}`}>Restore…</button></td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
