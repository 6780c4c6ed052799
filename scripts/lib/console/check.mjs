// Uses the console as an operator does, in a browser with a server under load: every page in light mode, dark mode, and
// at phone size, all changes of a document, the keyboard, a subpath, and the rules of axe-core. Screenshots go to the
// directory in the first argument.
import assert from 'node:assert/strict';
import {spawn} from 'node:child_process';
import {mkdirSync, mkdtempSync, readFileSync, rmSync} from 'node:fs';
import http from 'node:http';
import {createRequire} from 'node:module';
import net from 'node:net';
import {tmpdir} from 'node:os';
import {join} from 'node:path';
import {chromium} from 'playwright-core';

const SECRET = 'a token for the check of the console';
const PREFIX = '/below/a/proxy';
const PAGES = ['live', 'store', 'documents', 'archive', 'cluster', 'clients', 'settings'];
/** The response of a node of a cluster with two groups, as in ClusterGroupsTest. The server itself has no cluster. */
const CLUSTER = {
  id: '3f0c5a52-5d3e-4f3c-9a44-0c0a6d1f7b10', role: 'leader', node: 'a', leader: 'a',
  since: new Date(Date.now() - 3_700_000).toISOString(), unappliedEntries: 0, term: 7, committedEntries: 48_211, logEntries: 48_213,
  nodes: ['a', 'b', 'c'].map((id, i) => ({
    id, resp: `10.0.0.${i + 1}:6380`, http: `10.0.0.${i + 1}:4437`, committedEntries: 48_211 - 1_200 * (i === 2),
    lastContactMillis: [null, 120, 8_400][i],
  })),
  slots: '0-8191',
  groups: [
    {slots: '0-8191', leader: 'a', since: new Date(Date.now() - 3_700_000).toISOString(), nodes: ['a', 'b', 'c']},
    {slots: '8192-16383', leader: null, since: new Date(Date.now() - 2_000).toISOString(), nodes: ['d', 'e', 'f']},
  ],
};
const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const shots = process.argv[2];
const work = mkdtempSync(join(tmpdir(), 'console-'));
const ends = [];
const complaints = [];
mkdirSync(shots, {recursive: true});

const say = (text) => console.log(`console: ${text}`);

async function startServer() {
  const args = ['serve', '--data', 'data', '--archive', 'file:archive', '--archive-after', '1s',
    '--drill', '2s', '--max-value', '512KiB',
    '--checkpoint-floor', '16MiB', '--resp', '127.0.0.1:0', '--http', '127.0.0.1:0'];
  const server = spawn(process.env.CARAVAN, args, {
    cwd: work,
    env: {...process.env, CARAVAN_PASSWORD: SECRET, CARAVAN_JAVA_OPTS: '-Dcaravan.warm-up=false'},
    stdio: ['ignore', 'pipe', process.env.VERBOSE ? 'inherit' : 'ignore'],
  });
  ends.push(() => new Promise((done) => (server.on('exit', done), server.kill())));
  let out = '';
  for await (const chunk of server.stdout) {
    out += chunk;
    const found = /RESP on \S+:(\d+), HTTP on \S+:(\d+)/.exec(out);
    if (found) return {resp: Number(found[1]), port: Number(found[2])};
  }
  throw new Error('the server has not started');
}

/** Starts a proxy that forwards requests below a prefix and removes the prefix. */
async function startProxy(port) {
  const proxy = http.createServer((request, response) => {
    if (!request.url.startsWith(PREFIX + '/')) return response.writeHead(404).end();
    const path = request.url.slice(PREFIX.length);
    const passed = http.request({port, host: '127.0.0.1', path, method: request.method, headers: request.headers}, (answer) => {
      response.writeHead(answer.statusCode, answer.headers);
      answer.pipe(response);
    });
    passed.on('error', () => response.destroy());
    response.on('close', () => passed.destroy());
    request.pipe(passed);
  });
  await new Promise((done) => proxy.listen(0, '127.0.0.1', done));
  ends.push(() => (proxy.closeAllConnections(), proxy.close()));
  return proxy.address().port;
}

const word = (text) => `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
const command = (...words) => `*${words.length}\r\n${words.map(word).join('')}`;

/** Simulates an editor that appends and sometimes replaces earlier values with a snapshot. */
function load(resp, editor) {
  const socket = net.connect(resp, '127.0.0.1');
  let turn = 0;
  const go = () => {
    turn++;
    const document = `drafts/team-${editor}/chapter-${turn % 40}`;
    const edit = JSON.stringify({by: ['ann', 'bob', 'cyd'][turn % 3], at: turn, text: 'a few words that were typed. '.repeat(turn % 30)});
    let commands = command('RPUSH', document, edit);
    if (turn % 100 === 0) commands += command('LRANGE', document, '0', '-1');
    if (turn % 400 < 40) commands += command('LTRIM', document, '-20', '-1');
    socket.write(commands);
  };
  socket.on('data', () => setTimeout(go, 1));
  socket.write(command('AUTH', SECRET) + command('CLIENT', 'SETNAME', `editor-${editor}`));
  ends.push(() => socket.destroy());
}

async function fill(port) {
  const send = (method, path, body, type = 'application/json') =>
    fetch(`http://127.0.0.1:${port}/v1/stream/${path}`, {
      method, body, headers: {Authorization: `Bearer ${SECRET}`, 'Content-Type': type},
    }).then((answer) => assert.ok(answer.ok, `${method} ${path}: ${answer.status}`));
  await send('PUT', 'notes/letter');
  await send('POST', 'notes/letter', JSON.stringify([{by: 'ann', text: 'Dear Ada,'}, {by: 'bob', text: 'how are you?'}]));
  await send('PUT', 'pictures/sun.bin', undefined, 'application/octet-stream');
  await send('POST', 'pictures/sun.bin', Buffer.from(Array.from({length: 300}, (_, i) => (i * 7) % 256)), 'application/octet-stream');
  // The first line is part of the creation, because an archive generation may be of any moment.
  await send('PUT', 'ends', '<b>line 0</b> & more', 'text/plain');
  for (let i = 1; i < 5; i++) await send('POST', 'ends', `<b>line ${i}</b> & more`, 'text/plain');
  await send('PUT', 'markup/<img src=x onerror=alert(1)>'.replace(/[<> =]/g, encodeURIComponent), '["x"]');
}

/** Writes values that survive. They fill several segments of the heap, and some are then deleted. */
function grow(resp) {
  return new Promise((done, failed) => {
    const socket = net.connect(resp, '127.0.0.1');
    const value = 'v'.repeat(500_000);
    let sent = 0;
    const next = () => {
      sent++;
      if (sent <= 300) socket.write(command('RPUSH', `library/book-${sent % 60}`, value));
      else if (sent === 301) socket.write(command('SAVE'));
      else if (sent === 302) socket.write(command('DEL', ...Array.from({length: 20}, (_, i) => `library/book-${i * 3}`)));
      else socket.destroy(), done();
    };
    socket.on('error', failed);
    socket.on('data', next);
    socket.write(command('AUTH', SECRET));
  });
}

async function open(browser, base, options) {
  const context = await browser.newContext({viewport: {width: 1280, height: 900}, acceptDownloads: true, ...options});
  const page = await context.newPage();
  page.on('pageerror', (problem) => complaints.push(`an exception: ${problem.message}`));
  page.on('console', (message) => {
    // The browser reports rejected requests that the page handles as failed loads.
    if (['error', 'warning'].includes(message.type()) && !/^Failed to load resource/.test(message.text())) {
      complaints.push(message.text());
    }
  });
  page.on('request', (request) => {
    if (!request.url().startsWith(new URL(base).origin) && !/^(data|blob):/.test(request.url())) complaints.push(`a foreign address: ${request.url()}`);
  });
  await page.route('**/v1/cluster', (route) => route.fulfill({json: CLUSTER}));
  await page.goto(`${base}/console`);
  await page.getByLabel('Token').fill('wrong');
  await page.screenshot({path: join(shots, 'sign-in.png')});
  await page.getByRole('button', {name: 'Sign in'}).click();
  await page.getByText('The server rejected this token.').waitFor();
  await page.getByLabel('Token').fill(SECRET);
  await page.getByRole('button', {name: 'Sign in'}).click();
  await page.getByRole('heading', {name: 'Live', level: 1}).waitFor();
  return page;
}

const heading = (page, name) => page.getByRole('heading', {name, level: 1}).waitFor();

async function visit(page, hash, title) {
  await page.evaluate((to) => (location.hash = to), hash);
  await heading(page, title);
}

async function accessible(page, what) {
  await page.evaluate(axe);
  const {violations} = await page.evaluate(() => window.axe.run());
  for (const {id, help, nodes} of violations) complaints.push(`${what}: ${id}: ${help}: ${nodes[0].html.slice(0, 200)}`);
}

async function tour(page, look) {
  for (const name of PAGES) {
    await visit(page, `#/${name}`, name[0].toUpperCase() + name.slice(1));
    await page.locator('main .card, main .tile').first().waitFor();
    if (name === 'live') await page.waitForFunction(() => document.querySelectorAll('caravan-chart canvas').length === 8);
    if (name === 'documents') await page.getByText('complete.').waitFor();
    await accessible(page, `${name}, ${look}`);
    await page.screenshot({path: join(shots, `${name}-${look}.png`), fullPage: true});
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name}, ${look}, is ${wide} pixels wider than the window`);
  }
  await visit(page, '#/document?path=/v1/stream/notes%252Fletter', 'notes/letter');
  await page.getByText('how are you?').waitFor();
  await accessible(page, `document, ${look}`);
  await page.screenshot({path: join(shots, `document-${look}.png`), fullPage: true});
}

/** Waits until a value is shown like this, because the page draws values in the next frame. */
const shown = (page, index, text) =>
  page.waitForFunction(
    ([at, pattern]) => new RegExp(pattern).test(document.querySelectorAll('.value pre')[at]?.textContent ?? ''),
    [index, text.source],
  );

async function change(page) {
  await visit(page, '#/document?path=/v1/stream/ends', 'ends');
  await page.getByRole('button', {name: 'Follow'}).click();
  await page.getByLabel('Append a value').fill('{"a new one": true}');
  await page.getByRole('button', {name: 'Append'}).click();
  await page.getByText('Appended: it is durable.').waitFor();
  await page.locator('.value').nth(5).waitFor();
  await shown(page, 5, /"a new one": true/);
  await shown(page, 0, /^<b>line 0<\/b> & more$/);
  await page.getByLabel('Show as').selectOption('hex');
  await shown(page, 0, /^000000 {2}3c 62 3e/);
  await page.getByLabel('Show as').selectOption('base64');
  await shown(page, 0, /^PGI\+/);
  await page.getByLabel('Show as').selectOption('auto');
  const [file] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', {name: 'Download value 0'}).click(),
  ]);
  assert.equal(readFileSync(await file.path(), 'utf8'), '<b>line 0</b> & more');
  await page.getByRole('button', {name: 'Following'}).click();
  say('followed, appended, shown, downloaded');

  await archived(page, 'ends');
  await visit(page, '#/document?path=/v1/stream/ends', 'ends');
  await page.getByLabel('Remove values before sequence').fill('4');
  await page.getByRole('button', {name: 'Trim…'}).click();
  await page.getByText('This removes the 4 oldest values, sequences 0 to 3, and keeps 2.').waitFor();
  await accessible(page, 'question');
  await page.screenshot({path: join(shots, 'question.png')});
  await page.getByRole('button', {name: 'Remove 4 values'}).click();
  await page.getByText('4 values removed.').waitFor();
  await page.getByRole('button', {name: 'Delete the document…'}).click();
  await page.getByRole('button', {name: 'Delete 2 values'}).click();
  await heading(page, 'Documents');
  say('trimmed, deleted');

  await restore(page);
}

/** Waits until the archive has a generation of a document. */
async function archived(page, name) {
  await visit(page, `#/archive?path=/v1/stream/${name}`, 'Archive');
  const row = page.getByRole('button', {name: /^Restore generation/});
  for (let tries = 0; tries < 60 && !(await row.count()); tries++) {
    await page.getByRole('button', {name: 'Find', exact: true}).click();
    await page.waitForTimeout(250);
  }
  await row.first().waitFor();
}

async function restore(page) {
  await archived(page, 'ends');
  await page.screenshot({path: join(shots, 'generations.png'), fullPage: true});
  await page.getByRole('button', {name: /^Restore generation/}).last().click();
  await page.getByLabel('Restore as').fill('ends again');
  await page.getByRole('button', {name: 'Restore', exact: true}).click();
  await page.getByRole('link', {name: 'ends again'}).click();
  await heading(page, 'ends again');
  await page.getByText('line 0').waitFor();
  say('restored');
}

/** Uses only the keyboard: the skip link, a menu entry, a document, and its values. */
async function keyboard(page) {
  await page.reload();
  await heading(page, 'ends again');
  await page.keyboard.press('Tab');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'To the page');
  for (let i = 0; i < 20 && (await focused(page)) !== 'Documents'; i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await heading(page, 'Documents');
  assert.equal(await focused(page), 'Documents', 'the heading has the focus');
  await page.getByText('complete.').waitFor();
  for (let i = 0; i < 40 && (await focused(page)) !== 'ends again'; i++) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await heading(page, 'ends again');
  await page.getByRole('button', {name: 'Delete the document…'}).focus();
  await page.keyboard.press('Enter');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({state: 'detached'});
  say('used by the keyboard');
}

const focused = (page) => page.evaluate(() => document.activeElement.textContent.trim());

async function extremes(page) {
  await visit(page, '#/documents?delimiter=', 'Documents');
  await page.getByText('complete.').waitFor();
  const largest = page.locator('.card', {has: page.getByRole('heading', {name: 'Largest here'})});
  assert.match(await largest.locator('li').first().textContent(), /^library\/book-\d+ /);
  await page.screenshot({path: join(shots, 'extremes.png')});
}

async function markup(page) {
  await visit(page, '#/documents?prefix=markup/', 'Documents');
  await page.getByRole('link', {name: '<img src=x onerror=alert(1)>'}).first().click();
  await heading(page, 'markup/<img src=x onerror=alert(1)>');
  assert.equal(await page.locator('main img').count(), 0, 'a name is not markup');
}

/** Checks documents whose plain addresses a browser would change to those of others. */
async function rewritten(page, resp) {
  const names = ['rooms/../payroll', 'payroll', 'rooms/.', '..', 'rooms//door', '__name/door', 'payroll ', 'pay\u202elor'];
  await new Promise((done, failed) => {
    const socket = net.connect(resp, '127.0.0.1');
    let answers = 0;
    socket.on('error', failed);
    socket.on('data', (data) => {
      answers += data.toString().split('\r\n').length - 1;
      if (answers === names.length + 1) socket.destroy(), done();
    });
    socket.write(command('AUTH', SECRET) + names.map((name) => command('RPUSH', name, `in ${name}`)).join(''));
  });
  const paths = await page.evaluate(async () => {
    const {json, nameOf, streamPath} = await import(new URL('js/api.js', document.baseURI));
    const found = await json('/v1/documents?limit=1000');
    return found.documents.map(({name, path}) => ({name, path, spelled: streamPath(name), read: nameOf(path)}));
  });
  for (const name of names) assert.ok(paths.some((each) => each.name === name), `${name} is listed`);
  for (const {name, path, spelled, read} of paths) {
    assert.equal(spelled, path, `the console spells ${name} as the server does`);
    assert.equal(read, name);
  }
  await visit(page, '#/documents?prefix=rooms/&delimiter=', 'Documents');
  await page.getByRole('link', {name: '../payroll', exact: true}).first().click();
  await heading(page, 'rooms/../payroll');
  await page.getByText('in rooms/../payroll').waitFor();
  await page.getByRole('button', {name: 'Delete the document…'}).click();
  await page.getByRole('button', {name: 'Delete 1 value'}).click();
  await heading(page, 'Documents');
  await visit(page, '#/documents', 'Documents');
  await page.getByRole('link', {name: 'payroll', exact: true}).first().click();
  await page.getByText('in payroll').waitFor();
  await visit(page, '#/documents?prefix=pay&delimiter=', 'Documents');
  for (const shown of ['roll', 'roll␣', '\\u202elor']) await page.getByRole('link', {name: shown, exact: true}).first().waitFor();
  await page.getByRole('link', {name: 'roll␣', exact: true}).first().click();
  await heading(page, 'payroll␣');
  // A link from another site.
  await visit(page, '#/document?path=/v1/stream/rooms/../payroll', 'rooms/../payroll');
  await page.getByText('The browser would change this address').waitFor();
  await visit(page, '#/document?path=/v1/spaces/payroll', 'Document');
  await page.getByText('This address contains no document name.').waitFor();
  assert.equal(await page.getByRole('button', {name: 'Delete the document…'}).count(), 0);
  say('deleted the right one of two documents');
}

/**
 * Checks a page that the user leaves: late responses are not shown, and pending actions apply to the original document.
 */
async function left(page) {
  await page.evaluate(async () => {
    const {call} = await import(new URL('js/api.js', document.baseURI));
    for (const path of ['/v1/stream/left/a', '/v1/stream/left/b']) {
      await call('PUT', path, {headers: {'Content-Type': 'text/plain'}, body: 'value'});
    }
  });
  let release;
  const released = new Promise((done) => (release = done));
  await page.route('**/v1/values/left/a?*', (route) => released.then(() => route.continue()));
  const asked = page.waitForRequest('**/v1/values/left/a?*');
  await visit(page, '#/document?path=/v1/stream/left/a', 'left/a');
  await asked;
  await visit(page, '#/document?path=/v1/spaces/left', 'Document');
  const answered = page.waitForResponse('**/v1/values/left/a?*').then((answer) => answer.finished());
  release();
  await answered;
  await page.evaluate(() => new Promise((drawn) => setTimeout(() => requestAnimationFrame(drawn))));
  await page.getByText('This address contains no document name.').waitFor({timeout: 1000});
  assert.equal(await page.getByRole('button', {name: 'Delete the document…'}).count(), 0);
  await page.unroute('**/v1/values/left/a?*');

  await visit(page, '#/document?path=/v1/stream/left/a', 'left/a');
  await page.getByRole('button', {name: 'Delete the document…'}).click();
  await page.evaluate(() => (location.hash = '#/document?path=/v1/stream/left/b'));
  await heading(page, 'left/b');
  const deletion = page.waitForResponse((answer) => answer.request().method() === 'DELETE');
  await page.getByRole('button', {name: 'Delete 1 value'}).click();
  assert.match((await deletion).url(), /left\/a$/);
  await page.getByText('1 value,').first().waitFor();
  say('nothing is done to the document that is shown next');
}

/**
 * Checks a document of type text/html from the origin of the console and with its token. The browser must not run it.
 */
async function harmless(browser, direct) {
  const context = await browser.newContext({extraHTTPHeaders: {Authorization: `Bearer ${SECRET}`}});
  const address = `${direct}/v1/stream/pages/evil`;
  const body = '<body>shown<script>fetch("/v1/documents")</script><img src="/v1/stream/ends" onerror="fetch(\'/healthz\')">';
  const headers = {Authorization: `Bearer ${SECRET}`, 'Content-Type': 'text/html'};
  assert.equal((await fetch(address, {method: 'PUT', headers, body})).status, 201);
  const page = await context.newPage();
  const sent = [];
  context.on('request', (request) => sent.push(new URL(request.url()).pathname));
  await page.goto(address, {waitUntil: 'load'});
  await page.getByText('shown').waitFor();
  assert.ok(!sent.includes('/v1/documents') && !sent.includes('/healthz'), `no script of a document runs: ${sent}`);
  await context.close();
  say('a document of type text/html is no page of the console');
}

async function check() {
  const {resp, port} = await startServer();
  const proxy = await startProxy(port);
  await fill(port);
  await grow(resp);
  say('filled');
  for (let editor = 1; editor <= 6; editor++) load(resp, editor);
  const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
    args: ['--headless', '--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking',
      '--disable-component-update', '--disable-sync'],
  });
  ends.push(() => browser.close());
  const direct = `http://127.0.0.1:${port}`;
  const page = await open(browser, direct, {colorScheme: 'light'});
  await page.waitForTimeout(Number(process.env.SETTLE_MS || 4000));
  await tour(page, 'light');
  await page.emulateMedia({colorScheme: 'dark'});
  await tour(page, 'dark');
  await page.emulateMedia({colorScheme: 'light'});
  await visit(page, '#/live', 'Live');
  await page.waitForFunction(() => document.querySelectorAll('caravan-chart canvas').length === 8);
  await page.screenshot({path: join(shots, 'console.png')});
  say('every page in light and dark');
  await change(page);
  await keyboard(page);
  await extremes(page);
  await markup(page);
  await rewritten(page, resp);
  await left(page);
  await page.context().close();
  await harmless(browser, direct);
  const phone = await open(browser, `http://127.0.0.1:${proxy}${PREFIX}`, {viewport: {width: 390, height: 844}, colorScheme: 'light', hasTouch: true});
  assert.ok(phone.url().includes(`${PREFIX}/console/`), phone.url());
  await phone.waitForTimeout(2500);
  await tour(phone, 'phone');
  say('every page on a phone, below a sub-path');
}

let failed = false;
try {
  await check();
} catch (problem) {
  failed = true;
  console.error(problem);
} finally {
  for (const end of ends.reverse()) await end();
  rmSync(work, {recursive: true, force: true});
}
for (const complaint of new Set(complaints)) console.error(`console: ${complaint}`);
if (failed || complaints.length) process.exit(1);
say(`all well; screenshots are in ${shots}`);
