package io.caravan.server.protocol.resp;

import java.util.LinkedHashMap;
import java.util.Map;

/** The subcommands of a command, which {@code HELP} lists. */
final class Subcommands implements Action.Immediate {
    private final Map<String, Subcommand> byName = new LinkedHashMap<>();

    private record Subcommand(String usage, int least, int most, Action.Immediate action) {}

    /** Adds a subcommand. The usage begins with its name; {@code words} is the number of words after the name. */
    Subcommands add(String usage, int words, Action.Immediate action) {
        return add(usage, words, words, action);
    }

    /** Adds a subcommand with {@code least} to {@code most} words after its name. */
    Subcommands add(String usage, int least, int most, Action.Immediate action) {
        byName.put(usage.split(" ")[0], new Subcommand(usage, least, most, action));
        return this;
    }

    @Override
    public Reply run(Session session, Command request) {
        if (request.is(1, "HELP")) {
            return new Reply.Array(byName.values().stream()
                    .map(each -> new Reply.Simple(request.keyword(0) + " " + each.usage()))
                    .toList());
        }
        Subcommand subcommand = byName.get(request.keyword(1));
        if (subcommand == null) {
            throw new CommandException(
                    "ERR unknown subcommand '" + request.shortText(1) + "'. Try " + request.keyword(0) + " HELP.");
        }
        int words = request.size() - 2;
        if (words < subcommand.least() || words > subcommand.most()) {
            throw CommandException.wrongArity(request.lower(0) + "|" + request.lower(1));
        }
        return subcommand.action().run(session, request);
    }
}
