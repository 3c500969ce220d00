/* Browsers start no workers for pages that are files. There, the search runs in a hidden frame that speaks as a worker does. */
if (location.protocol === "file:")
  window.Worker = class extends EventTarget {
    constructor(url) {
      super()
      const frame = document.createElement("iframe")
      frame.hidden = true
      document.body.append(frame)
      const inside = (this.inside = frame.contentWindow)
      inside.postMessage = data => this.dispatchEvent(new MessageEvent("message", { data: structuredClone(data) }))
      const load = source => new Promise((loaded, failed) => {
        const script = inside.document.createElement("script")
        Object.assign(script, { src: source, onload: loaded, onerror: failed, async: false })
        inside.document.body.append(script)
      })
      inside.importScripts = (...sources) => Promise.all(sources.map(load))
      this.ready = load(url)
    }

    postMessage(data) {
      this.ready.then(() => this.inside.dispatchEvent(new this.inside.MessageEvent("message", { data })))
    }

    terminate() {
      this.inside.frameElement.remove()
    }
  }
