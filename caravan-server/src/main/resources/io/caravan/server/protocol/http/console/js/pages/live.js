/** The server's statistics, current and since the console was opened. */

import {html, nothing} from '../../vendor/lit-html/lit-html.js';
import {json, token} from '../api.js';
import '../charts.js';
import {bytes, count, nanos, seconds, short} from '../format.js';

export const title = 'Live';

const POINTS = 900;
const EVERY_MS = 1000;
/** Requests that read values. */
const READS = new Set([
  'readStream', 'readValues', 'lrange', 'lindex', 'caravan.read', 'lpos', 'getrange', 'llen',
]);

/** The values that the charts show for each point. */
const history = [];
let last = null;
let problem = null;
let redraw = () => {};
let timer = 0;

/** Requests the statistics immediately, and then regularly while the page is visible. */
export function follow(update) {
  redraw = update;
  clearTimeout(timer);
  ask();
}

async function ask() {
  if (!document.hidden) {
    try {
      take(await json('/v1/stats'));
      problem = null;
    } catch (refused) {
      problem = refused;
    }
    redraw();
  }
  // Without the permission, the page requests them rarely, in case the user enters another token.
  clearTimeout(timer);
  timer = setTimeout(ask, problem ? 3 * EVERY_MS : EVERY_MS);
}

function take(stats) {
  const now = {at: performance.now(), stats, reads: reads(stats)};
  if (last && stats.uptimeSeconds >= last.stats.uptimeSeconds) history.push(point(last, now));
  if (history.length > POINTS) history.shift();
  last = now;
}

const reads = ({requests}) =>
  requests.filter(({operation}) => READS.has(operation)).reduce((sum, each) => sum + each.count, 0);

function point(before, now) {
  const s = now.stats.store;
  const rate = (figure) => ((figure(now) - figure(before)) * 1000) / (now.at - before.at);
  const changes = ({stats: {store}}) => store.trims + store.deletes;
  return {
    time: Date.now() / 1000,
    appends: rate(({stats}) => stats.store.appends),
    changes: rate(changes),
    reads: rate((each) => each.reads),
    fsyncs: rate(({stats}) => stats.store.fsyncs),
    written: rate(({stats}) => stats.store.logBytes),
    p50: s.recentAckNanos.count ? s.recentAckNanos.p50 : null,
    p99: s.recentAckNanos.count ? s.recentAckNanos.p99 : null,
    p999: s.recentAckNanos.count ? s.recentAckNanos.p999 : null,
    resp: now.stats.respConnections,
    http: now.stats.httpConnections,
    log: s.logBytesSinceCheckpoint,
    used: s.heap.usedBytes,
    total: s.heap.totalBytes,
  };
}

const spec = (name, format, ...series) => ({name, format, series, binary: format === bytes});
const line = (key, label, colour, fill = false) => ({key, label, colour, fill});

const CHARTS = [
  spec('Writes a second', short, line('appends', 'appends', '--c1', true), line('changes', 'trims, deletes', '--c2')),
  spec(
    'Time to acknowledge',
    nanos,
    line('p50', 'p50', '--c1', true),
    line('p99', 'p99', '--c2'),
    line('p999', 'p99.9', '--c3'),
  ),
  spec('Reads a second', short, line('reads', 'reads', '--c1', true)),
  spec('Fsyncs a second', short, line('fsyncs', 'fsyncs', '--c1', true)),
  spec('Log written a second', bytes, line('written', 'bytes', '--c1', true)),
  spec('Log since the checkpoint', bytes, line('log', 'a recovery would replay', '--c1', true)),
  spec('Connections', short, line('resp', 'RESP', '--c1'), line('http', 'HTTP', '--c2')),
  spec('Space of values', bytes, line('used', 'in the log and the heap', '--c1', true), line('total', 'files of the heap', '--c2')),
];

function chart(each) {
  const now = history.at(-1);
  const data = [history.map(({time}) => time), ...each.series.map(({key}) => history.map((p) => p[key]))];
  return html`<section class="card chart">
    <h2>${each.name}</h2>
    <p class="legend">
      ${each.series.map(
        ({key, label, colour}) =>
          html`<span class=${'key ' + colour.slice(2)}>${label}</span>
            <b>${now && now[key] != null ? each.format(now[key]) : '–'}</b> `,
      )}
    </p>
    <caravan-chart .spec=${each} .data=${data} aria-hidden="true"></caravan-chart>
  </section>`;
}

const tile = (label, value, note = '') =>
  html`<div class="tile"><dt>${label}</dt><dd>${value}${note ? html`<small>${note}</small>` : nothing}</dd></div>`;

export function view() {
  return html`<div class="head"><h1 tabindex="-1">Live</h1>${last ? about(last.stats) : nothing}</div>
    ${problem ? refusal(problem) : nothing}${last ? figures(last.stats) : nothing}`;
}

const refusal = ({status, message}) =>
  html`<p class="problem" role="alert">
    ${status === 403 ? 'This token cannot read the server’s statistics. They require the permission ADMIN.' : message}
  </p>`;

const about = ({version, uptimeSeconds, store}) =>
  html`<p class="about">
    ${store.name}${version === 'unpackaged' ? '' : `, release ${version}`}, up for ${seconds(uptimeSeconds)}
  </p>`;

function figures(stats) {
  const now = history.at(-1);
  const {store} = stats;
  return html`<dl class="tiles">
      ${tile('Documents', count(stats.documents), stats.tailedDocuments ? `${count(stats.tailedDocuments)} followed` : '')}
      ${tile('Appends', now ? short(now.appends) + '/s' : '–', count(store.appends) + ' since the start')}
      ${tile('Ack, p99', store.recentAckNanos.count ? nanos(store.recentAckNanos.p99) : 'idle', 'last seconds')}
      ${tile('Values', bytes(store.heap.usedBytes), 'in the log and the heap')}
      ${tile('Checkpoints', count(store.checkpoints), store.checkpoints ? 'last took ' + nanos(store.lastCheckpointNanos) : '')}
      ${tile('Rejected, failed', `${count(store.rejections)}, ${count(store.failures)}`, 'writes; store')}
    </dl>
    <div class="charts">${CHARTS.map(chart)}</div>
    <p class="muted">
      ${history.length < 2 ? 'Charts start with the second sample.' : `The last ${seconds(history.length)}, kept only in this tab.`}
      ${token.get() ? '' : 'This server requires no token.'}
    </p>`;
}
