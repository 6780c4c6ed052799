/** Confirmation of actions that cannot be undone. */

import {html, render} from '../vendor/lit-html/lit-html.js';

/**
 * Asks for confirmation, then runs `act`. Resolves to the result of `act`, or to null if the user declined. If the server
 * rejects the action, the dialog stays open and shows the message.
 */
export function confirm({title, text, verb, act, danger = true}) {
  return new Promise((resolve) => {
    const dialog = document.createElement('dialog');
    dialog.setAttribute('aria-labelledby', 'question');
    document.body.append(dialog);
    let busy = false;
    let problem = '';
    const draw = () =>
      render(
        html`<form method="dialog" @submit=${go}>
          <h2 id="question">${title}</h2>
          ${text}
          ${problem ? html`<p class="problem" role="alert">${problem}</p>` : ''}
          <div class="actions">
            <button type="button" @click=${() => dialog.close()}>Cancel</button>
            <button class=${danger ? 'danger' : 'primary'} ?disabled=${busy}>${verb}</button>
          </div>
        </form>`,
        dialog,
      );
    let result = null;
    async function go(event) {
      event.preventDefault();
      busy = true;
      draw();
      try {
        result = (await act()) ?? true;
        dialog.close();
      } catch (refused) {
        busy = false;
        problem = refused.message;
        draw();
      }
    }
    dialog.addEventListener('close', () => {
      dialog.remove();
      resolve(result);
    });
    draw();
    dialog.showModal();
  });
}
