package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.NONE;
import static io.caravan.server.protocol.resp.dispatch.CommandSpec.server;

import io.caravan.server.document.DocumentService;
import io.caravan.server.document.space.Prefix;
import io.caravan.server.document.space.Space;
import io.caravan.server.document.space.SpaceSetting;
import io.caravan.server.document.space.SpaceSettings;
import io.caravan.server.document.space.Spaces;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.CommandSpec.Access;
import io.caravan.server.protocol.resp.dispatch.Subcommands;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The command that manages spaces. */
public final class SpaceCommands {
    private final DocumentService documents;
    private final Subcommands subcommands;

    public SpaceCommands(DocumentService documents) {
        this.documents = documents;
        this.subcommands = new Subcommands("CARAVAN.SPACE")
                .add(
                        "SET",
                        "prefix setting value [setting value ...]",
                        3,
                        Integer.MAX_VALUE,
                        (session, command) -> set(command))
                .add("GET", "prefix", 1, 1, (session, command) -> get(command))
                .add("LIST", "", 0, 0, (session, command) -> list())
                .add(
                        "REMOVE",
                        "prefix",
                        1,
                        1,
                        (session, command) -> new Reply.Number(spaces().remove(prefix(command)) ? 1 : 0));
    }

    public List<CommandSpec> all() {
        return List.of(
                server("CARAVAN.SPACE", -2, NONE, "", "Sets, returns, lists, and removes the settings of spaces.")
                        .access(Access.ADMIN)
                        .waiting(subcommands::run));
    }

    private Spaces spaces() {
        return documents.spaces();
    }

    private static Prefix prefix(Command command) {
        return Prefix.of(command.word(2));
    }

    private Reply set(Command command) {
        return described(spaces().set(prefix(command), before -> changed(before, command)));
    }

    private static SpaceSettings changed(SpaceSettings before, Command command) {
        SpaceSettings after = before;
        for (int i = 3; i < command.size(); i += 2) {
            if (i + 1 == command.size()) {
                throw CommandException.syntax();
            }
            SpaceSetting setting = SpaceSetting.of(command.lower(i));
            boolean word = setting.unit() == SpaceSetting.Unit.WORD;
            after = after.with(setting, word ? setting.number(command.lower(i + 1)) : command.count(i + 1));
        }
        return after;
    }

    private Reply get(Command command) {
        Space space = spaces().get(prefix(command));
        return space == null ? Reply.Null.BULK : described(space);
    }

    private Reply list() {
        return new Reply.Array(
                spaces().all().stream().map(SpaceCommands::described).toList());
    }

    private static Reply described(Space space) {
        Map<String, Reply> fields = new LinkedHashMap<>();
        fields.put("prefix", new Reply.Bulk(space.prefix().toBytes()));
        space.settings().shown().forEach((setting, value) -> fields.put(setting, Reply.of(value)));
        fields.putAll(Reply.Fields.ofRecord(space.status()).entries());
        return new Reply.Fields(fields);
    }
}
