package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.Keys.NONE;
import static io.caravan.server.protocol.resp.dispatch.CommandSpec.server;
import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.backup.Backups;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.CommandSpec.Access;
import io.caravan.server.protocol.resp.dispatch.ResumableRead;
import io.caravan.server.protocol.resp.dispatch.Session;
import java.util.List;

/** The command that makes a backup of the store. */
public final class BackupCommands {
    private final Backups backups;

    public BackupCommands(Backups backups) {
        this.backups = backups;
    }

    public List<CommandSpec> all() {
        return List.of(server(
                        "CARAVAN.BACKUP",
                        2,
                        NONE,
                        "",
                        "Copies the store to a directory, and replies when the copy is complete.")
                .access(Access.ADMIN)
                .waitingInTurns(this::backup));
    }

    private ResumableRead backup(Session session, Command command, ResumableRead.Context context) {
        String name = new String(command.word(1), UTF_8);
        return new LongOperation<Backups.Made>(
                outcome -> backups.start(name, outcome), BackupCommands::describe, context);
    }

    private static Reply describe(Backups.Made made) {
        return Reply.Fields.of(
                "path", made.path().toString(),
                "files", made.report().files(),
                "bytes", made.report().bytes(),
                "lsn", made.report().lsn(),
                "millis", made.millis());
    }
}
