/** The connected clients. */

import {html, nothing} from '../../vendor/lit-html/lit-html.js';
import {polled} from '../api.js';
import {plural, seconds} from '../format.js';

export const title = 'Clients';

const poll = polled(() => '/v1/clients', 3000);
export const {enter, leave} = poll;

export const view = () => html`<div class="head">
    <h1 tabindex="-1">Clients</h1>
    ${poll.value ? html`<p class="about">${plural(poll.value.clients.length, 'connection')}</p>` : nothing}
  </div>
  ${poll.problem ? html`<p class="problem" role="alert">${poll.problem}</p>` : nothing}
  ${poll.value ? table(poll.value.clients) : nothing}`;

const table = (clients) => html`<div class="card scroll" tabindex="0" role="region" aria-label="Connections">
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
