package io.caravan.server.cli.doctor;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/** Checks which users may read the store and the secrets. */
public final class FileChecks {
    private FileChecks() {}

    /** Returns the findings about the store's directory and the files with secrets. */
    public static List<Finding> run(Path directory, List<Path> secrets) {
        List<Finding> findings = new ArrayList<>();
        if (Files.exists(directory)) {
            findings.add(permissions("store", directory, "chmod 700 " + directory));
        } else {
            findings.add(Finding.ok("store", directory + " does not exist yet; the server creates it"));
        }
        secrets.forEach(file -> findings.add(permissions("secret", file, "chmod 600 " + file)));
        return findings;
    }

    private static Finding permissions(String subject, Path file, String change) {
        try {
            if (!Files.isReadable(file)) {
                return Finding.bad(
                        subject,
                        file + " does not exist, or this user may not read it",
                        "give it to the user who runs the server");
            }
            Set<PosixFilePermission> allowed = Files.getPosixFilePermissions(file);
            String found = file + " belongs to " + Files.getOwner(file);
            return allowed.contains(PosixFilePermission.OTHERS_READ)
                    ? Finding.warning(subject, found + "; every user of this machine can read it", change)
                    : Finding.ok(subject, found + ", and no other user can read it");
        } catch (IOException | UnsupportedOperationException unreadable) {
            return Finding.unknown(subject, file + ": its permissions cannot be read: " + unreadable);
        }
    }
}
