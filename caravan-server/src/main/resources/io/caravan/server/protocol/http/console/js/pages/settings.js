/** The effective settings and their sources. */

import {html, nothing} from '../../vendor/lit-html/lit-html.js';
import {json} from '../api.js';

export const title = 'Settings';

let settings = null;
let problem = '';

export async function enter(_, update) {
  try {
    settings = (await json('/v1/settings')).settings;
    problem = '';
  } catch (refused) {
    problem = refused.message;
  }
  update();
}

export const view = () => html`<div class="head"><h1 tabindex="-1">Settings</h1></div>
  ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing} ${settings ? table() : nothing}`;

const table = () => html`<p class="muted">Secrets are omitted. The server reads its settings from the command line, the environment, and the configuration file when it starts.</p>
  <div class="card scroll" tabindex="0" role="region" aria-label="Settings">
    <table>
      <thead>
        <tr><th scope="col">Setting</th><th scope="col">Value</th><th scope="col">From</th></tr>
      </thead>
      <tbody>
        ${settings.map(
          (each) => html`<tr class=${each.source === 'default' ? 'muted' : ''}>
            <th scope="row" class="whole"><code>${each.name}</code></th>
            <td class="whole"><code>${each.value}</code></td>
            <td class="whole">${each.source}</td>
          </tr>`,
        )}
      </tbody>
    </table>
  </div>`;
