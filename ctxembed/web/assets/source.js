// Where answers come from: the report holds them, explore asks the server beside it.
const DATA = JSON.parse(document.getElementById("data").textContent);

const keyOf = (question, asked) =>
  JSON.stringify([question, Object.entries(asked).filter(([, v]) => v !== undefined && v !== null).sort()]);

const kept = new Map();
if (!DATA.live) {
  for (const item of DATA.answers) {
    const given = { ...item, columns: DATA.columns[item.columns] };
    kept.set(keyOf(item.question, item.asked), new Answer(given));
  }
}

class Refused extends Error {}

// Ask; null where a report does not hold the answer. `told` hears of progress, and may say stop.
async function ask(question, asked, told) {
  const key = keyOf(question, asked);
  if (kept.has(key)) return kept.get(key);
  if (!DATA.live) return null;
  const clean = Object.fromEntries(Object.entries(asked).filter(([, v]) => v !== undefined && v !== null));
  for (;;) {
    const { status, body } = await send("ask", { question, asked: clean });
    if (status === 200 && !body.error) return keep(key, new Answer(body));
    if (status !== 202) throw new Refused(body.error ?? `the server answered ${status}`);
    const wish = told?.(body);
    if (wish === "leave") return null; // nobody looks at it any more; the server notices
    if (wish === "stop") {
      await send("stop", { question, asked: clean });
      throw new Refused("stopped");
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
    throw new Refused("no answer: has ctxembed explore ended?");
  }
  let body = {};
  try { body = await reply.json(); } catch { /* an error without words */ }
  return { status: reply.status, body };
}

function keep(key, answer) {
  kept.set(key, answer);
  if (kept.size > 400) kept.delete(kept.keys().next().value);
  return answer;
}
