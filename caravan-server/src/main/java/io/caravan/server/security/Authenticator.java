package io.caravan.server.security;

import io.caravan.server.config.FileWatch;
import io.caravan.server.net.ClientSubnet;
import io.caravan.server.security.FailedAttempts.Cost;
import java.io.IOException;
import java.net.SocketAddress;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the principal to whom a secret belongs, logs and counts failures, and limits the number of failures from each
 * address. Never blocks, so event loops may call it. The duration of a check depends neither on how much of a secret is
 * correct nor on the secret's user. Thread-safe.
 *
 * <p>Secrets may come from a file. If its new contents are invalid, {@link #reload} fails, and the old secrets stay valid.
 */
public final class Authenticator implements FileWatch.Reloadable {
    /** The user name that matches every user; Redis clients send it if no user name is configured. */
    public static final String DEFAULT_USER = "default";

    private static final Logger LOG = LoggerFactory.getLogger(Authenticator.class);

    private final FailedAttempts failedAttempts = new FailedAttempts(System::nanoTime);
    private final LongAdder failures = new LongAdder();
    private final LongAdder rejections = new LongAdder();
    /** The valid credentials; null if no secret is required. */
    private volatile @Nullable Credentials credentials;

    private final List<Path> files;
    private final Format format;

    /** The format of a file of credentials. */
    private interface Format {
        Credentials read(Path file) throws IOException;
    }

    private Authenticator(@Nullable Credentials credentials, List<Path> files, Format format) {
        this.credentials = credentials;
        this.files = files;
        this.format = format;
    }

    private static Authenticator fixed(@Nullable Credentials credentials) {
        return new Authenticator(credentials, List.of(), SecretsFile::read);
    }

    private static Authenticator ofFile(Path file, Format format) throws IOException {
        Authenticator authenticator = new Authenticator(format.read(file), List.of(file), format);
        warnIfReadableByOthers(file);
        return authenticator;
    }

    /** Returns an authenticator that requires no secret, and grants every permission to every client. */
    public static Authenticator open() {
        return fixed(null);
    }

    /** Returns an authenticator with one secret that grants every permission. */
    public static Authenticator ofPassword(byte[] password) {
        return fixed(Credentials.ofPassword(password));
    }

    /** Reads a file of credentials. The message about an invalid file contains the position, but no secret. */
    public static Authenticator ofSecrets(Path file) throws IOException {
        return ofFile(file, SecretsFile::read);
    }

    /** Reads a file whose only line is a secret that grants every permission. */
    public static Authenticator ofPassword(Path file) throws IOException {
        return ofFile(file, SecretsFile::readPassword);
    }

    @Override
    public List<Path> files() {
        return files;
    }

    /** Reads the file again. Principals whose secrets are not in it any more lose all permissions at once. */
    @Override
    public void reload() throws IOException {
        for (Path file : files) {
            Credentials changed = format.read(file);
            warnIfReadableByOthers(file);
            Credentials old = credentials;
            credentials = old == null ? changed : changed.replacing(old);
            LOG.info("read file '{}' again: {} secrets are valid", file, changed.size());
        }
    }

    private static void warnIfReadableByOthers(Path file) throws IOException {
        if (FileSystems.getDefault().supportedFileAttributeViews().contains("posix")
                && Files.getPosixFilePermissions(file).contains(PosixFilePermission.OTHERS_READ)) {
            LOG.warn("every user of this machine can read file '{}': chmod 600 it", file);
        }
    }

    /** Whether clients must authenticate first; if not, each client is {@link Principal#ANYONE}. */
    public boolean required() {
        return credentials != null;
    }

    /**
     * Returns the principal to whom a user name and secret belong; {@link #DEFAULT_USER} matches any user. Returns null
     * if the secret is wrong, or was not checked because of too many wrong secrets from the same address.
     */
    public @Nullable Principal authenticate(SocketAddress peer, String user, byte[] secret) {
        Credentials valid = credentials;
        if (valid == null) {
            return Principal.ANYONE;
        }
        ClientSubnet network = ClientSubnet.of(peer);
        if (network == null) {
            return valid.find(user, secret);
        }
        long hash = failedAttempts.hash(user, secret);
        boolean limited = !network.loopback();
        if (limited && !failedAttempts.mayTry(network, hash)) {
            rejections.increment();
            return null;
        }
        Principal principal = valid.find(user, secret);
        if (principal == null) {
            failures.increment();
            log(peer, failedAttempts.failed(network, hash), limited);
        } else {
            failedAttempts.succeeded(network, hash);
        }
        return principal;
    }

    /** Logs each wrong secret once, without the user name, which may be a misplaced secret. */
    private static void log(SocketAddress peer, Cost cost, boolean limited) {
        if (cost != Cost.NONE) {
            LOG.warn(
                    "{} did not authenticate: wrong user or secret{}",
                    peer,
                    limited && cost == Cost.LAST_ATTEMPT ? "; its address may try no other secrets for a while" : "");
        }
    }

    /** Returns the number of times that clients have presented a wrong secret. */
    public long failures() {
        return failures.sum();
    }

    /** Returns the number of secrets that were not checked because of too many wrong secrets from an address. */
    public long rejections() {
        return rejections.sum();
    }
}
