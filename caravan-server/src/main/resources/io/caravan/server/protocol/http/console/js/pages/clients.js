/** The connected clients. */

import {html, nothing} from '../../vendor/lit-html/lit-html.js';
import {json} from '../api.js';
import {plural, seconds} from '../format.js';

export const title = 'Clients';

let clients = null;
let problem = '';
let timer = 0;

export function enter(_, update) {
  const ask = async () => {
    try {
      if (!document.hidden) clients = (await json('/v1/clients')).clients;
      problem = '';
    } catch (refused) {
      problem = refused.message;
    }
    update();
    if (timer !== 0) timer = setTimeout(ask, 3000);
  };
  timer = -1;
  ask();
}

export function leave() {
  clearTimeout(timer);
  timer = 0;
}

export const view = () => html`<div class="head">
    <h1 tabindex="-1">Clients</h1>
    ${clients ? html`<p class="about">${plural(clients.length, 'connection')}</p>` : nothing}
  </div>
  ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing} ${clients ? table() : nothing}`;

const table = () => html`<div class="card scroll" tabindex="0" role="region" aria-label="Connections">
  <table>
    <thead>
      <tr><th scope="col">Address</th><th scope="col">Protocol</th><th scope="col">User</th><th scope="col">Name</th>
      <th scope="col">Library</th><th scope="col">Open for</th></tr>
    </thead>
    <tbody>
      ${clients.map(
        (each) => html`<tr>
          <th scope="row" class="whole">${each.address}</th>
          <td>${each.protocol.toUpperCase()}</td>
          <td>${each.user || '–'}</td>
          <td>${each.name || '–'}</td>
          <td>${each.library || '–'}</td>
          <td>${seconds(each.ageSeconds)}</td>
        </tr>`,
      )}
    </tbody>
  </table>
</div>`;
