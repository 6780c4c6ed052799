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
import java.util.Objects;
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
public final class Authenticator extends FileWatch {
    /** The user name that matches every user; Redis clients send it if no user name is configured. */
    public static final String DEFAULT_USER = "default";

    private static final Logger LOG = LoggerFactory.getLogger(Authenticator.class);

    private final FailedAttempts failedAttempts = new FailedAttempts(System::nanoTime);
    private final LongAdder failures = new LongAdder();
    private final LongAdder rejections = new LongAdder();
    /** The owners of the valid secrets; null if no secret is required. */
    private volatile @Nullable List<Principal> owners;

    private final Format format;

    /** The format of a file of secrets. */
    private interface Format {
        List<Principal> read(Path file) throws IOException;
    }

    private Authenticator(@Nullable List<Principal> owners, List<Path> files, Format format) {
        super(files);
        this.owners = owners;
        this.format = format;
    }

    private static Authenticator ofFile(Path file, Format format) throws IOException {
        Authenticator authenticator = new Authenticator(List.of(), List.of(file), format);
        authenticator.owners = format.read(file);
        warnIfReadableByOthers(file);
        return authenticator;
    }

    /** Returns an authenticator that requires no secret, and grants every permission to every client. */
    public static Authenticator open() {
        return new Authenticator(null, List.of(), SecretsFile::read);
    }

    /** Returns an authenticator with one secret that grants every permission. */
    public static Authenticator ofPassword(byte[] password) {
        return new Authenticator(List.of(Principal.ofPassword(password)), List.of(), SecretsFile::read);
    }

    /** Reads a file of secrets. The message about an invalid file contains the position, but no secret. */
    public static Authenticator ofSecrets(Path file) throws IOException {
        return ofFile(file, SecretsFile::read);
    }

    /** Reads a file whose only line is a secret that grants every permission. */
    public static Authenticator ofPassword(Path file) throws IOException {
        return ofFile(file, SecretsFile::readPassword);
    }

    /** Reads the file again. Principals whose secrets are not in it any more lose all permissions at once. */
    @Override
    public void reload() throws IOException {
        for (Path file : files()) {
            List<Principal> changed = format.read(file);
            warnIfReadableByOthers(file);
            List<Principal> old = Objects.requireNonNull(owners);
            // Principals that stay the same keep their connections.
            List<Principal> merged = changed.stream()
                    .map(each -> old.stream().filter(each::same).findFirst().orElse(each))
                    .toList();
            owners = merged;
            old.stream().filter(each -> !merged.contains(each)).forEach(Principal::revoke);
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
        return owners != null;
    }

    /**
     * Returns the principal to whom a user name and secret belong; {@link #DEFAULT_USER} matches any user. Returns null
     * if the secret is wrong, or was not checked because of too many wrong secrets from the same address.
     */
    public @Nullable Principal authenticate(SocketAddress peer, String user, byte[] secret) {
        List<Principal> valid = owners;
        if (valid == null) {
            return Principal.ANYONE;
        }
        ClientSubnet network = ClientSubnet.of(peer);
        if (network == null) {
            return find(valid, user, secret);
        }
        long hash = failedAttempts.hash(user, secret);
        boolean limited = !network.loopback();
        if (limited && !failedAttempts.mayTry(network, hash)) {
            rejections.increment();
            return null;
        }
        Principal principal = find(valid, user, secret);
        if (principal == null) {
            failures.increment();
            log(peer, failedAttempts.failed(network, hash), limited);
        } else {
            failedAttempts.succeeded(network, hash);
        }
        return principal;
    }

    /** Returns the owner of a secret, or null. Compares every secret, so that the duration reveals nothing. */
    private static @Nullable Principal find(List<Principal> valid, String user, byte[] secret) {
        byte[] digest = Principal.digest(secret);
        Principal found = null;
        for (Principal candidate : valid) {
            found = candidate.owns(user, digest) ? candidate : found;
        }
        return found;
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

    public long failures() {
        return failures.sum();
    }

    /** Returns the number of secrets that were not checked because of too many wrong secrets from an address. */
    public long rejections() {
        return rejections.sum();
    }
}
