package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.FIRST;

import io.caravan.catalog.DocumentName;
import io.caravan.server.archive.restore.RestoreService;
import io.caravan.server.archive.restore.Restored;
import io.caravan.server.document.Outcome;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.Access;
import io.caravan.server.protocol.resp.dispatch.CommandGate;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.Reading;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.caravan.server.protocol.resp.reply.Errors;
import io.caravan.server.security.Permission;
import io.caravan.server.security.Principal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/** Brings documents back from the archive. */
public final class RestoreCommands {
    private static final int OPTIONS = 2;
    private static final int OPTION_WORDS = 2;

    private final @Nullable RestoreService restores;

    /**
     * The commands of a server.
     *
     * @param restores null when it has no archive
     */
    public RestoreCommands(@Nullable RestoreService restores) {
        this.restores = restores;
    }

    public List<CommandSpec> all() {
        return List.of(CommandSpec.list("CARAVAN.RESTORE", -2, "Restores a document from the archive.")
                .keys(FIRST)
                .flags("write", "denyoom")
                .access(Access.READ_AND_WRITE)
                .waitingInTurns(this::restore));
    }

    /**
     * What the words behind the name say.
     *
     * @param generation the one to restore, or none for the latest
     * @param as the new document's name, or null
     */
    private record Options(
            OptionalLong generation, @Nullable DocumentName as) {
        static Options of(Command command) {
            OptionalLong generation = OptionalLong.empty();
            DocumentName as = null;
            for (int i = OPTIONS; i < command.size(); i += OPTION_WORDS) {
                boolean given = i + 1 < command.size();
                if (given && command.is(i, "AT") && generation.isEmpty()) {
                    generation = OptionalLong.of(command.count(i + 1));
                } else if (given && command.is(i, "AS") && as == null) {
                    as = DocumentName.of(command.word(i + 1));
                } else {
                    throw CommandException.syntax();
                }
            }
            return new Options(generation, as);
        }
    }

    private Reading restore(Session session, Command command, Reading.Context context) {
        Options options = Options.of(command);
        if (options.generation().isPresent()) {
            // An older generation, or that of a document that was deleted: it undoes what others have decided.
            CommandGate.require(session.principal(), Permission.ADMIN, "caravan.restore at");
        }
        if (restores == null) {
            throw new CommandException("ARCHIVE this server has no archive: start it with --archive");
        }
        DocumentName name = ListCommands.name(command);
        DocumentName as = options.as();
        if (as != null) {
            checkAs(session.principal(), name, as);
        }
        return new Restoring(restores, name, options, context);
    }

    /** A restore, which takes long: no reading thread waits for it, but what follows on the connection does. */
    private static final class Restoring implements Reading, Outcome<Restored> {
        private final RestoreService restores;
        private final DocumentName name;
        private final Options options;
        private final Reading.Context context;
        private boolean begun;
        private @Nullable Reply answer;

        Restoring(RestoreService restores, DocumentName name, Options options, Reading.Context context) {
            this.restores = restores;
            this.name = name;
            this.options = options;
            this.context = context;
        }

        @Override
        public boolean proceed() {
            if (!begun) {
                begun = true;
                context.checkStillKnown();
                restores.restoreApart(name, options.generation(), options.as(), this);
                return false;
            }
            context.place().complete(Objects.requireNonNull(answer));
            return true;
        }

        @Override
        public void success(Restored restored) {
            answered(describe(restored));
        }

        @Override
        public void failure(RuntimeException problem) {
            answered(Errors.reply(problem));
        }

        private void answered(Reply reply) {
            answer = reply;
            context.wake().run();
        }
    }

    private static void checkAs(@Nullable Principal principal, DocumentName name, DocumentName as) {
        if (as.equals(name)) {
            throw new CommandException("ERR AS must name another document than the one that is restored");
        }
        if (principal == null || !principal.may(Permission.WRITE, as)) {
            throw new CommandException("NOPERM No permissions to access a key: user "
                    + (principal == null ? "?" : principal.name()) + " may not write it");
        }
    }

    private static Reply describe(Restored restored) {
        Map<String, Reply> entries = new LinkedHashMap<>();
        entries.put("first", new Reply.Number(restored.firstSequence()));
        entries.put("next", new Reply.Number(restored.nextSequence()));
        entries.put("added", new Reply.Number(restored.added()));
        entries.put("generation", new Reply.Number(restored.generation().number()));
        return new Reply.Fields(entries);
    }
}
