package io.caravan.server.cli.operate;

import io.caravan.catalog.DocumentName;
import io.caravan.server.backup.Backups;
import io.caravan.server.cli.client.ClientCommand;
import io.caravan.server.cli.client.ClientException;
import io.caravan.server.cli.client.ServerConnection;
import io.caravan.server.cli.client.ServerInfo;
import io.caravan.server.cli.common.Figures;
import io.caravan.server.cli.common.Output;
import io.caravan.server.cli.common.Progress;
import java.io.IOException;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

@Command(
        name = "backup",
        description = {
            "Backs up the open store of a server, into the directory NAME of its --backup-dir. Waits until the"
                    + " backup is complete and durable, and prints its path, log position, number of files, and size."
                    + " Requires the admin permission.",
            "The backup contains the store as it was at one moment, including every write that was acknowledged"
                    + " before the command started, and can be opened like the store. Until it is complete, the name"
                    + " of its directory ends with .partial. Ctrl-C or a lost connection ends the command, but not"
                    + " the backup."
        },
        exitCodeList = {
            "0:the backup is complete and durable",
            "1:no backup was made: no server, permission, backup directory, or space, the name is taken, or another"
                    + " backup is running",
            "2:usage error"
        },
        footer = {
            "  caravan backup monday",
            "  caravan backup before-update --json",
            "  caravan backup monday --server db.example:6380 --tls --user operator --password-file operator.secret"
        })
public final class BackupCommand extends ClientCommand {
    private static final double MILLIS_PER_SECOND = 1_000;

    @Parameters(
            paramLabel = "NAME",
            description = "Name of the new directory: 1 to 200 letters, digits, '-', '_', and '.', beginning with a"
                    + " letter, a digit, or '_'.")
    private String name;

    @Override
    protected void run(Output output) throws IOException {
        try {
            Backups.requireName(name);
        } catch (IllegalArgumentException invalid) {
            throw misused(String.valueOf(invalid.getMessage()));
        }
        // The progress requires a second connection, because the first one waits until the backup ends.
        ServerConnection observer = connect();
        try (ServerConnection connection = connect();
                Progress shown = showProgress(() -> progress(observer))) {
            Map<String, @Nullable Object> made = make(connection);
            String line = made.get("path") + " contains the store as it was at log position " + made.get("lsn") + ": "
                    + Figures.count(number(made, "files"), "file") + ", " + Figures.size(number(made, "bytes"))
                    + ", in "
                    + String.format(Locale.ROOT, "%.1f s", number(made, "millis") / MILLIS_PER_SECOND);
            output.print(DocumentName.printable(line), made);
        } finally {
            observer.cut();
        }
    }

    private Map<String, @Nullable Object> make(ServerConnection connection) {
        try {
            return connection.callLongRunning("CARAVAN.BACKUP", name);
        } catch (ServerConnection.LostException lost) {
            throw ClientException.failed(
                    lost.getMessage() + "; the backup may continue: 'caravan stat' reports this (backup_in_progress)",
                    lost);
        }
    }

    private static String progress(ServerConnection observer) {
        try {
            return progress(observer.info());
        } catch (ClientException | ServerConnection.LostException problem) {
            return "the progress of the backup is not known: " + problem.getMessage();
        }
    }

    static String progress(ServerInfo info) {
        long total = info.numberOrZero("backup_total_bytes");
        return total == 0
                ? "the backup is starting"
                : "copied " + Figures.size(info.numberOrZero("backup_done_bytes")) + " of " + Figures.size(total);
    }

    private static long number(Map<String, @Nullable Object> made, String field) {
        return (Long) Objects.requireNonNull(made.get(field));
    }
}
