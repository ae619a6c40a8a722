// Browsers start no worker for a page that was opened from disk, and search runs in one. Here a hidden
// iframe runs the same script; the search script looks for the name IFrameWorker.
if (location.protocol === "file:") {
  window.IFrameWorker = class extends EventTarget {
    constructor(address) {
      super();
      const url = new URL(address, location.href);
      const frame = document.createElement("iframe");
      frame.hidden = true;
      document.body.appendChild(frame);
      const inside = (this.inside = frame.contentWindow);
      const page = inside.document;
      const load = (source) =>
        new Promise((resolve, reject) => {
          const script = page.createElement("script");
          script.src = new URL(source, url);
          script.onload = resolve;
          script.onerror = reject;
          page.body.appendChild(script);
        });
      inside.postMessage = (data) =>
        setTimeout(() => this.dispatchEvent(new MessageEvent("message", { data })));
      inside.importScripts = (...sources) =>
        sources.reduce((before, source) => before.then(() => load(source)), Promise.resolve());
      this.ready = load(url);
    }
    postMessage(data) {
      this.ready.then(() =>
        this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data })),
      );
    }
    terminate() {
      this.inside.frameElement.remove();
    }
  };
  window.Worker = window.IFrameWorker;
}
