// A fake of the editor's module, as far as the extension uses it.

export {};
