package io.caravan.server.resp;

import io.caravan.server.ServerStatus;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Commands about the server. */
final class ServerCommands {
    private final ServerStatus status;

    ServerCommands(ServerStatus status) {
        this.status = status;
    }

    /** All sections, or those that are named; one that does not exist is empty, as in Redis. */
    Reply info(Session session, Command command) {
        List<String> wanted = new ArrayList<>();
        for (int i = 1; i < command.size(); i++) {
            wanted.add(command.text(i).toLowerCase(Locale.ROOT));
        }
        boolean all = wanted.isEmpty() || wanted.stream().anyMatch(List.of("all", "default", "everything")::contains);
        StringBuilder text = new StringBuilder();
        status.sections().forEach((section, fields) -> {
            if (all || wanted.contains(section.toLowerCase(Locale.ROOT))) {
                append(text, section, fields);
            }
        });
        return Reply.Bulk.of(text.toString());
    }

    private static void append(StringBuilder text, String section, Map<String, Object> fields) {
        text.append(text.isEmpty() ? "" : "\r\n").append("# ").append(section).append("\r\n");
        fields.forEach(
                (name, value) -> text.append(name).append(':').append(value).append("\r\n"));
    }

    /** Tells the few settings of Redis that its tools ask for. */
    Reply config(Session session, Command command) {
        if (!command.keyword(1).equals("GET")) {
            throw ConnectionCommands.unknownSubcommand(command);
        }
        if (command.size() == 2) {
            throw new CommandException("ERR wrong number of arguments for 'config|get' command");
        }
        List<Reply> found = new ArrayList<>();
        for (int i = 2; i < command.size(); i++) {
            String name = command.text(i).toLowerCase(Locale.ROOT);
            String value = status.redisSettings().get(name);
            if (value != null) {
                found.add(Reply.Bulk.of(name));
                found.add(Reply.Bulk.of(value));
            }
        }
        return new Reply.Array(found);
    }
}
