// Requests to the server that this page came from. All addresses are relative, so they carry its token.

/** An error that the server explains. */
export class Refused extends Error {
  constructor({ message, help }) {
    super(message);
    this.help = help ?? null;
  }
}

async function answered(response) {
  if (response.ok) return response;
  let told = { message: `the server answered ${response.status}` };
  try {
    told = await response.json();
  } catch { /* not an explanation */ }
  throw new Refused(told);
}

/** What the server has at an address. */
export async function get(path) {
  return (await answered(await fetch(path, { cache: 'no-store' }))).json();
}

// Clicks arrive in their order: browsers send requests over several connections, of which any may be first.
let sent = Promise.resolve();

/** Sends JSON, after what was sent before; `atOnce` does not wait for that. */
export function post(path, body = {}, atOnce = false) {
  const headers = { 'Content-Type': 'application/json' };
  const work = async () => (await answered(await fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }))).json();
  if (atOnce) return work();
  const done = sent.then(work);
  sent = done.catch(() => {});
  return done;
}

/** Sends a file. */
export async function send(path, file) {
  return (await answered(await fetch(path, { method: 'POST', headers: { 'Content-Type': 'application/octet-stream' }, body: file }))).json();
}

const pause = (ms) => new Promise((done) => { setTimeout(done, ms); });

/** Resolves when the page is looked at: a hidden tab asks for nothing. */
function shown() {
  if (!document.hidden) return Promise.resolve();
  return new Promise((done) => {
    document.addEventListener('visibilitychange', () => done(), { once: true });
  });
}

/** Calls `show` with every new state, and `lost` once the server does not answer any more; it may come back. */
export async function listen(show, lost) {
  let version = 0;
  for (let failures = 0; ;) {
    await shown();
    try {
      const state = await get(`state?after=${version}`);
      failures = 0;
      if (state.version !== version) {
        version = state.version;
        show(state);
      }
      if (state.ended) return;
    } catch {
      failures += 1;
      if (failures === 2) lost();
      await pause(Math.min(5000, 300 * failures));
    }
  }
}
