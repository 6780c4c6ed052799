/** The nodes of a cluster, and which of them lead. */

import {html, nothing} from '../../vendor/lit-html/lit-html.js';
import {json, polled} from '../api.js';
import {plural, seconds} from '../format.js';

export const title = 'Cluster';

const poll = polled(() => '/v1/cluster', 2000);
export const {enter, leave} = poll;

/** Whether the server is a node of a cluster. Otherwise, the menu does not contain this page. */
export const present = () => poll.value !== null;

/** Checks whether the server is a node of a cluster. */
export async function find(update) {
  try {
    poll.value = await json('/v1/cluster');
    update();
  } catch {
    // This server is not in a cluster, or the token lacks the permission.
  }
}

export const view = () => html`<div class="head">
    <h1 tabindex="-1">Cluster</h1>
    ${poll.value ? html`<p class="about">${about(poll.value)}</p>` : nothing}
  </div>
  ${poll.problem ? html`<p class="problem" role="alert">${poll.problem}</p>` : nothing}
  ${poll.value ? nodes(poll.value) : nothing}
  ${poll.value && several(poll.value) ? groups(poll.value) : nothing}`;

const several = (cluster) => cluster.groups.length > 1;

function about(cluster) {
  const since = seconds((Date.now() - Date.parse(cluster.since)) / 1000);
  const leads = cluster.leader ? `node ${cluster.leader} has led for ${since}` : `no node has led for ${since}`;
  const of = several(cluster) ? `, of the group with the slots ${cluster.slots}` : '';
  return `${leads}, term ${cluster.term}; this is node ${cluster.node}${of}. The other pages show the data of the leader${
    several(cluster) ? ', except the documents, which are those of all groups' : ''}.`;
}

const nodes = (cluster) => html`<div class="card scroll" tabindex="0" role="region" aria-label="Nodes">
  <table>
    <thead>
      <tr><th scope="col">Node</th><th scope="col">Role</th><th scope="col">Entry lag</th>
      <th scope="col">Last contact</th><th scope="col">RESP</th><th scope="col">HTTP</th></tr>
    </thead>
    <tbody>
      ${cluster.nodes.map(
        (each) => html`<tr>
          <th scope="row">${each.id}</th>
          <td>${each.id === cluster.leader ? 'leader' : 'follower'}</td>
          <td>${behind(cluster, each)}</td>
          <td>${lastContact(each)}</td>
          <td class="whole">${each.resp}</td>
          <td class="whole">${each.http}</td>
        </tr>`,
      )}
    </tbody>
  </table>
</div>
  <p class="muted">
    ${plural(cluster.committedEntries, 'entry', 'entries')} committed; the Raft log of this node keeps
    ${plural(cluster.logEntries, 'entry', 'entries')}.
  </p>`;

const groups = (cluster) => html`<div class="card scroll" tabindex="0" role="region" aria-label="Groups">
  <table>
    <thead>
      <tr><th scope="col">Slots</th><th scope="col">Leader</th><th scope="col">For</th><th scope="col">Nodes</th></tr>
    </thead>
    <tbody>
      ${cluster.groups.map(
        (each) => html`<tr>
          <th scope="row">${each.slots}</th>
          <td>${each.leader ?? 'none'}</td>
          <td>${seconds((Date.now() - Date.parse(each.since)) / 1000)}</td>
          <td>${each.nodes.join(', ')}</td>
        </tr>`,
      )}
    </tbody>
  </table>
</div>`;

const behind = (cluster, node) =>
  node.committedEntries === undefined ? '–' : Math.max(0, cluster.committedEntries - node.committedEntries);

/** Only the leader has contact with all nodes. */
const lastContact = (node) => (node.lastContactMillis == null ? '–' : `${seconds(node.lastContactMillis / 1000)} ago`);
