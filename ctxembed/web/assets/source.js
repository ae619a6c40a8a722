// Answers: a report contains them, explore asks its server.
const DATA = await unpack(document.getElementById("data").textContent);

// Compressed JSON in base64.
function unpack(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).json();
}

const keyOf = (question, parameters) =>
  JSON.stringify([question, Object.entries(parameters).filter(([, v]) => v !== undefined && v !== null).sort()]);

const kept = new Map();
if (!DATA.live) {
  for (const item of DATA.answers) kept.set(keyOf(item.question, item.parameters), new Answer(item));
}

// Which pictures the server draws: those that are shown. A report has all of them.
function picturesOf(question) {
  if (!DATA.live || !["explain", "ablate", "compare", "reweigh", "similarity", "counts", "states"].includes(question)) return {};
  return { narrow: cardIsNarrow(), drawn: ["explain", "ablate"].includes(question) ? state.draw : undefined };
}

class Refused extends Error {}

// Return an answer; null if a report does not contain it. `progress` may return "stop" or "leave".
async function ask(question, given, progress) {
  const parameters = { ...given, ...picturesOf(question) };
  const key = keyOf(question, parameters);
  if (kept.has(key)) return kept.get(key);
  if (!DATA.live) return null;
  const clean = Object.fromEntries(Object.entries(parameters).filter(([, v]) => v !== undefined && v !== null));
  for (;;) {
    const { status, body } = await send("ask", { question, parameters: clean });
    if (status === 200 && !body.error) return keep(key, new Answer(body));
    if (status !== 202) throw new Refused(body.error ?? `The server answered with status ${status}.`);
    const wish = progress?.(body);
    if (wish === "leave") return null; // no longer shown; the server stops it
    if (wish === "stop") {
      await send("stop", { question, parameters: clean });
      throw new Refused("Stopped.");
    }
    await new Promise((done) => setTimeout(done, 300));
  }
}

async function send(where, content) {
  let reply;
  try {
    reply = await fetch(where, {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(content),
    });
  } catch {
    throw new Refused("No answer from the server. Is ctxembed explore still running?");
  }
  let body = {};
  try { body = await reply.json(); } catch { /* no JSON: show the status */ }
  return { status: reply.status, body };
}

function keep(key, answer) {
  kept.set(key, answer);
  if (kept.size > 400) kept.delete(kept.keys().next().value);
  return answer;
}
