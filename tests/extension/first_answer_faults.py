"""Faults on the way to a first answer, and the extension's tests that must notice them."""

from __future__ import annotations

from tests.planted import Fault

from .agents_faults import GROUND as GROUND

FAULTS = [
    Fault(
        "a step that fails is passed over",
        "chat_setup",
        "        await run(step);\n",
        "        await run(step).catch(() => {});\n",
    ),
    Fault(
        "a chat that asks nobody counts as one that works",
        "chat_setup",
        "  if (given === undefined) {\n",
        "  if (given === undefined) {\n    return;\n",
    ),
    Fault(
        "an answer that fails counts as one",
        "chat_setup",
        "if (given.failure !== undefined) {",
        "if (given === undefined) {",
    ),
    Fault(
        "another model's answer counts as Eliza's",
        "chat_setup",
        "given?.model === ELIZA ? given",
        "given !== undefined ? given",
    ),
    Fault(
        "a second setup fails, because the group is there",
        "chat_setup",
        'if (!messageOf(error).includes("already exists"))',
        "if (error)",
    ),
    Fault(
        "a chat that is switched off stays so",
        "chat_setup",
        "  if (find() === undefined) {\n",
        "  if (find() !== undefined) {\n",
    ),
    Fault(
        "a chat that stays switched off isn't told",
        "chat_setup",
        "  if (chat === undefined) {\n",
        "  if (chat === undefined) {\n    return;\n",
    ),
    Fault(
        "the greeting goes into the chat that is open",
        "chat_setup",
        '  await vscode.commands.executeCommand("workbench.action.chat.newChat");\n',
        "",
    ),
    Fault(
        "the walkthrough opens in each window",
        "welcome",
        "  await memory.update(WELCOMED, true);\n",
        "",
    ),
    Fault(
        "the walkthrough opens only where both the chat and the program are missing",
        "welcome",
        "isChatOn && (await hasProgram())",
        "isChatOn || (await hasProgram())",
    ),
    Fault(
        "an answer to another extension counts as one in the chat",
        "provider",
        "      if (isBuiltIn) {\n",
        "      if (params !== undefined) {\n",
    ),
    Fault(
        "a failure in the chat isn't announced",
        "provider",
        "      this.answered.fire({ model: model.id, failure: messageOf(error) });\n",
        "",
    ),
    Fault(
        "what is announced isn't looked at",
        "waiting",
        "event((happened) => void lookAt(happened))",
        "event(() => {})",
        ("chat_setup",),
    ),
    Fault(
        "what never happens is waited for without end",
        "waiting",
        "setTimeout(() => end(() => resolve(undefined)), milliseconds)",
        "setTimeout(() => {}, milliseconds)",
        ("chat_setup",),
    ),
    Fault(
        "the process is asked for its models at each list",
        "models",
        "    if (!this.wasListed) {\n",
        "    if (this.refreshing === undefined) {\n",
        ("provider",),
    ),
]
