package io.caravan.server.security;

import io.caravan.server.config.FileWatch;
import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Authenticates clients with the secrets in a file, which is reloaded when it changes. If the new contents are invalid,
 * it logs the problem, and the old secrets stay valid.
 */
public final class FileAuthenticator extends Authenticator implements FileWatch.Reloadable {
    private static final Logger LOG = LoggerFactory.getLogger(FileAuthenticator.class);

    private final Path file;
    private final Format format;

    private interface Format {
        Credentials read(Path file) throws IOException;
    }

    private FileAuthenticator(Path file, Format format) throws IOException {
        super(format.read(file));
        this.file = file;
        this.format = format;
        warnIfReadableByOthers();
    }

    /** Reads a file of credentials. The message about an invalid file contains the position, but no secret. */
    public static FileAuthenticator ofSecrets(Path file) throws IOException {
        return new FileAuthenticator(file, SecretsFile::read);
    }

    /** Reads a file whose only line is a secret that grants every permission. */
    public static FileAuthenticator ofPassword(Path file) throws IOException {
        return new FileAuthenticator(file, SecretsFile::readPassword);
    }

    @Override
    public List<Path> files() {
        return List.of(file);
    }

    @Override
    public void reload() throws IOException {
        Credentials changed = format.read(file);
        warnIfReadableByOthers();
        replace(changed);
        LOG.info("read {} again: {} secrets are valid", file, changed.size());
    }

    private void warnIfReadableByOthers() throws IOException {
        if (FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
                && Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ)) {
            LOG.warn("every user of this machine can read {}: chmod 600 it", file);
        }
    }
}
