/** The console: selects the page, and checks who may see it. */

import {html, nothing, render} from '../vendor/lit-html/lit-html.js';
import {call, json, onStranger, token} from './api.js';
import * as archive from './pages/archive.js';
import * as clients from './pages/clients.js';
import * as cluster from './pages/cluster.js';
import * as documentPage from './pages/document.js';
import * as documents from './pages/documents.js';
import * as live from './pages/live.js';
import * as settings from './pages/settings.js';
import * as store from './pages/store.js';

/** In the order of the menu. The menu contains the cluster only if the server is a node of one. */
const PAGES = {live, store, documents, archive, cluster, clients, settings};
const inMenu = ([, page]) => page !== cluster || cluster.present();
const OTHERS = {document: documentPage};

let page = null;
let shown = '';
let stranger = false;
let signInProblem = '';
let drawing = false;

/** Schedules a redraw. */
export function update() {
  if (!drawing) {
    drawing = true;
    requestAnimationFrame(() => {
      drawing = false;
      draw();
    });
  }
}

function address() {
  const [name, search = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return {name: name || 'live', parameters: new URLSearchParams(search)};
}

function navigate() {
  const {name, parameters} = address();
  const next = PAGES[name] || OTHERS[name] || live;
  page?.leave?.();
  const moved = page && next !== page;
  page = next;
  shown = name;
  document.title = `${page.title} · Caravan`;
  if (!stranger) page.enter?.(parameters, update);
  draw();
  // On a phone, the menu can be wider than the window.
  document.querySelector('nav a[aria-current="page"]')?.scrollIntoView({block: 'nearest', inline: 'nearest'});
  if (moved) document.querySelector('h1')?.focus();
}

const link = ([name, {title}]) => html`<li>
  <a href="#/${name}" aria-current=${shown === name || (shown === 'document' && name === 'documents') ? 'page' : 'false'}
    >${title}</a
  >
</li>`;

function frame() {
  return html`<a class="skip" href="#main" @click=${skip}>To the page</a>
    <header>
      <a class="brand" href="#/live"><img src="icon.svg" alt="" width="26" height="26" />Caravan</a>
      <nav aria-label="Pages"><ul>${Object.entries(PAGES).filter(inMenu).map(link)}</ul></nav>
      ${token.get() ? html`<button class="quiet leave" @click=${signOut}>Sign out</button>` : nothing}
    </header>
    <main id="main" tabindex="-1">${stranger ? signIn() : page.view()}</main>`;
}

function skip(event) {
  event.preventDefault();
  document.getElementById('main').focus();
}

function signIn() {
  return html`<form class="card sign-in" @submit=${trySignIn}>
    <h1 tabindex="-1">Sign in</h1>
    <p>
      This server requires a token: the same token that its other clients send. The console keeps the token until this tab
      is closed, and has the permissions of the token.
    </p>
    <label for="token">Token</label>
    <input id="token" name="token" type="password" autocomplete="current-password" required />
    ${signInProblem ? html`<p class="problem" role="alert">${signInProblem}</p>` : nothing}
    <div class="actions"><button class="primary">Sign in</button></div>
  </form>`;
}

async function trySignIn(event) {
  event.preventDefault();
  token.set(new FormData(event.target).get('token').trim());
  try {
    await json('/v1/documents?limit=1');
  } catch (refused) {
    // A token without permission to read documents is still valid.
    if (refused.status !== 403) {
      token.set('');
      signInProblem = refused.status === 401 ? 'The server rejected this token.' : refused.message;
      return update();
    }
  }
  stranger = false;
  signInProblem = '';
  live.follow(update);
  cluster.find(update);
  navigate();
}

function signOut() {
  token.set('');
  location.reload();
}

onStranger(() => {
  if (!stranger) {
    stranger = true;
    page?.leave?.();
    update();
  }
});

function draw() {
  render(frame(), document.getElementById('app'));
}

document.getElementById('app').replaceChildren();
addEventListener('hashchange', navigate);
navigate();
// Shows immediately whether a token is required, on any page.
if (!token.get()) call('GET', '/v1/documents?limit=1').catch(() => {});
live.follow(update);
cluster.find(update);
