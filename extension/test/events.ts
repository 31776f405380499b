// Events and what ends them, as the editor's module has them.

import type * as real from "vscode";

export class Disposable implements real.Disposable {
  static from(...disposables: { dispose(): unknown }[]) {
    return new Disposable(() => {
      for (const disposable of disposables) {
        disposable.dispose();
      }
    });
  }

  constructor(private readonly run: () => unknown) {}

  dispose() {
    this.run();
  }
}

export class EventEmitter<T> implements real.EventEmitter<T> {
  private readonly listeners = new Set<(event: T) => unknown>();
  readonly event = (listener: (event: T) => unknown) => {
    this.listeners.add(listener);
    return new Disposable(() => this.listeners.delete(listener));
  };

  fire(event: T) {
    for (const listener of [...this.listeners]) {
      listener(event);
    }
  }

  dispose() {
    this.listeners.clear();
  }
}
