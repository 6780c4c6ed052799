package io.caravan.server.protocol.resp;

import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** The subcommands of a command, which {@code HELP} lists. */
public final class Subcommands {
    private final String command;
    private final Map<String, Subcommand> byName = new LinkedHashMap<>();

    private record Subcommand(String usage, int least, int most, Action.Immediate action) {}

    /** Creates an empty set of subcommands of the command with this name, in upper case. */
    public Subcommands(String command) {
        this.command = command;
    }

    /** Adds a subcommand with {@code least} to {@code most} words after its name. */
    public Subcommands add(String name, String usage, int least, int most, Action.Immediate action) {
        byName.put(name, new Subcommand(usage, least, most, action));
        return this;
    }

    public Reply run(Session session, Command request) {
        if (request.is(1, "HELP")) {
            return help();
        }
        Subcommand subcommand = byName.get(request.keyword(1));
        if (subcommand == null) {
            throw CommandException.unknownSubcommand(request);
        }
        int words = request.size() - 2;
        if (words < subcommand.least() || words > subcommand.most()) {
            throw CommandException.wrongArity(request.lower(0) + "|" + request.lower(1));
        }
        return subcommand.action().run(session, request);
    }

    private Reply help() {
        Stream<String> lines = byName.entrySet().stream()
                .map(entry ->
                        (command + " " + entry.getKey() + " " + entry.getValue().usage()).trim());
        List<Reply> replies = lines.<Reply>map(Reply.Simple::new).toList();
        return new Reply.Array(replies);
    }
}
