"""Faults on the way to a first answer, and the extension's tests that must notice them."""

from __future__ import annotations

from tests.planted import Fault

from .agents_faults import GROUND as GROUND

FAULTS = [
    Fault(
        "a step that fails is passed over",
        "setup/chat_setup",
        "        await run(step);\n",
        "        await run(step).catch(() => {});\n",
    ),
    Fault(
        "a chat that asks nobody counts as one that works",
        "setup/chat_setup",
        "  if (given === undefined) {\n",
        "  if (given === undefined) {\n    return;\n",
    ),
    Fault(
        "an answer that fails counts as one",
        "setup/chat_setup",
        "if (given.failure !== undefined) {",
        "if (given === undefined) {",
    ),
    Fault(
        "another model's answer counts as Eliza's",
        "setup/chat_setup",
        "given?.model === ELIZA ? given",
        "given !== undefined ? given",
    ),
    Fault(
        "a second setup fails, because the group is there",
        "setup/open_chat",
        'if (!(error as Error).message.includes("already exists"))',
        "if (error)",
    ),
    Fault(
        "an added model's chat sends a message that nobody wrote",
        "setup/open_chat",
        "isPartialQuery: message === undefined",
        "isPartialQuery: false",
    ),
    Fault(
        "a model that the editor doesn't list is opened in the chat",
        "agents/add_agent",
        "if ((await findModel(id, ADDED_LISTED_WITHIN_MS)) !== undefined) {",
        "if ((await findModel(id, ADDED_LISTED_WITHIN_MS)) !== null) {",
    ),
    Fault(
        "in an editor without a chat an addition ends in an error",
        "agents/add_agent",
        "  } catch {\n    // An editor without",
        "  } catch (error) {\n    throw error; // An editor without",
    ),
    Fault(
        "each silent question of the editor asks the user to add an agent",
        "chat/provider",
        "if (options?.silent === false) {",
        "if (options !== undefined) {",
        ("extension",),
    ),
    Fault(
        "a new command is missing in the menu",
        "setup/menu",
        '[...grouped, ["More", others] as const]',
        "[...grouped]",
    ),
    Fault(
        "the endpoints of the settings don't reach the program",
        "program/launch",
        "Object.keys(settings.endpoints).length > 0 &&",
        "Object.keys(settings.endpoints).length < 0 &&",
        ("chat/provider",),
    ),
    Fault(
        "a chat that is switched off stays so",
        "setup/chat_setup",
        "  if (find() === undefined) {\n",
        "  if (find() !== undefined) {\n",
    ),
    Fault(
        "a chat that stays switched off isn't told",
        "setup/chat_setup",
        "  if (chat === undefined) {\n",
        "  if (chat === undefined) {\n    return;\n",
    ),
    Fault(
        "the greeting goes into the chat that is open",
        "setup/open_chat",
        '  await vscode.commands.executeCommand("workbench.action.chat.newChat");\n',
        "",
    ),
    Fault(
        "the walkthrough opens in each window",
        "setup/welcome",
        "  await memory.update(WELCOMED, true);\n",
        "",
    ),
    Fault(
        "the walkthrough opens only where both the chat and the program are missing",
        "setup/welcome",
        "isChatOn && (await hasProgram())",
        "isChatOn || (await hasProgram())",
    ),
    Fault(
        "an answer to another extension counts as one in the chat",
        "chat/provider",
        "      } else if (isBuiltIn) {\n",
        "      } else {\n",
    ),
    Fault(
        "a failure that its answer tells counts as a good answer",
        "chat/provider",
        "      if (told) {\n",
        "      if (false) {\n",
    ),
    Fault(
        "a failure in the chat isn't announced",
        "chat/provider",
        "      this.answered.fire({ model: model.id, failure: messageOf(error) });\n",
        "",
    ),
    Fault(
        "what is announced isn't looked at",
        "waiting",
        "event((happened) => void lookAt(happened))",
        "event(() => {})",
        ("setup/chat_setup",),
    ),
    Fault(
        "what never happens is waited for without end",
        "waiting",
        "setTimeout(() => end(() => resolve(undefined)), milliseconds)",
        "setTimeout(() => {}, milliseconds)",
        ("setup/chat_setup",),
    ),
    Fault(
        "the process is asked for its models at each list",
        "chat/models",
        "    if (!this.wasListed) {\n",
        "    if (this.refreshing === undefined) {\n",
        ("chat/provider",),
    ),
]
