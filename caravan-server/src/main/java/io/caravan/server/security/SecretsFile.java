package io.caravan.server.security;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.caravan.server.config.UserFiles;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Reads files of secrets, in the Java properties format:
 *
 * <pre>{@code
 * editor.secret = correct-horse-battery-staple
 * editor.secret.next = another-one
 * editor.permissions = read, write
 * editor.prefixes = letters/, drafts/
 * }</pre>
 *
 * <p>A user may have several secrets, distinguished by any word after {@code secret.}, so that a new one can be valid
 * before the old one is removed. {@code sha256} instead of {@code secret} specifies the secret's digest, in
 * hexadecimal. Without {@code prefixes}, the permissions apply to all documents. Messages never contain a secret.
 */
final class SecretsFile {
    private static final long MAX_PASSWORD_BYTES = 4096;
    private static final Pattern KEY = Pattern.compile(
            "(?<user>[A-Za-z0-9_-]+)\\.(?<field>secret|sha256|permissions|prefixes)(?<label>\\.[^.]+)?");

    private final Path file;
    private final Map<String, List<byte[]>> digests = new TreeMap<>();
    private final Map<String, Set<Permission>> permissions = new TreeMap<>();
    private final Map<String, List<String>> prefixes = new TreeMap<>();

    private SecretsFile(Path file) {
        this.file = file;
    }

    static List<Principal> read(Path file) throws IOException {
        return new SecretsFile(file).principals();
    }

    static List<Principal> readPassword(Path file) throws IOException {
        if (UserFiles.size(file) > MAX_PASSWORD_BYTES) {
            throw new IOException(file + " is longer than a password can be, " + MAX_PASSWORD_BYTES + " bytes");
        }
        List<String> lines = UserFiles.text(file).lines().toList();
        if (lines.size() != 1 || lines.get(0).isEmpty()) {
            throw new IOException(file + " must hold one line, which is the password");
        }
        return List.of(Principal.ofPassword(lines.get(0).getBytes(UTF_8)));
    }

    private List<Principal> principals() throws IOException {
        int number = 0;
        for (Map.Entry<String, String> entry : UserFiles.properties(file).entrySet()) {
            take(++number, entry.getKey(), entry.getValue());
        }
        List<Principal> all = new ArrayList<>();
        Set<String> distinct = new TreeSet<>();
        for (Map.Entry<String, List<byte[]>> user : digests.entrySet()) {
            String name = user.getKey();
            Set<Permission> granted = permissions.getOrDefault(name, Set.of());
            check(!granted.isEmpty(), name, "may do nothing: add a line " + name + ".permissions = read, write");
            for (byte[] digest : user.getValue()) {
                boolean first = distinct.add(HexFormat.of().formatHex(digest));
                check(first, name, "has a secret that occurs twice in the file");
                all.add(new Principal(name, granted, prefixes.getOrDefault(name, List.of()), digest));
            }
        }
        Set<String> named = new TreeSet<>(permissions.keySet());
        named.addAll(prefixes.keySet());
        for (String name : named) {
            check(digests.containsKey(name), name, "has no secret: add a line " + name + ".secret = ...");
        }
        check(!all.isEmpty(), "the file", "has no secrets, so no client could use the server");
        return List.copyOf(all);
    }

    /** Processes an entry. An unknown key is not quoted, because it may be a secret on its own line. */
    private void take(int number, String key, String value) throws IOException {
        Matcher parts = KEY.matcher(key);
        check(
                parts.matches(),
                "entry " + number,
                "is not one of USER.secret, USER.sha256, USER.permissions and USER.prefixes");
        String field = parts.group("field");
        boolean secret = field.equals("secret") || field.equals("sha256");
        check(secret || parts.group("label") == null, key, "must end with ." + field);
        check(!value.isBlank(), key, "is empty");
        String user = parts.group("user");
        check(!user.equals(Authenticator.DEFAULT_USER), key, "names the user that stands for any: choose another name");
        switch (field) {
            case "permissions" -> permissions.put(user, permissions(key, value));
            case "prefixes" -> prefixes.put(user, prefixes(key, value));
            default ->
                digests.computeIfAbsent(user, any -> new ArrayList<>())
                        .add(field.equals("secret") ? Principal.digest(value.getBytes(UTF_8)) : digest(key, value));
        }
    }

    private byte[] digest(String key, String value) throws IOException {
        check(value.matches("[0-9a-fA-F]{64}"), key, "is not the 64 digits of a SHA-256 digest");
        return HexFormat.of().parseHex(value);
    }

    private Set<Permission> permissions(String key, String value) throws IOException {
        Set<Permission> permissions = EnumSet.noneOf(Permission.class);
        for (String word : words(value)) {
            try {
                permissions.add(Permission.valueOf(word.toUpperCase(Locale.ROOT)));
            } catch (IllegalArgumentException unknown) {
                throw wrong(key, "is not a list of read, write and admin");
            }
        }
        return permissions;
    }

    /** Parses a list of prefixes. Rejects an empty list, which would otherwise grant access to every document. */
    private List<String> prefixes(String key, String value) throws IOException {
        List<String> prefixes = words(value);
        check(!prefixes.isEmpty(), key, "names no prefix: add one, or remove the line to grant every document");
        return prefixes;
    }

    private static List<String> words(String value) {
        return Arrays.stream(value.split(","))
                .map(String::strip)
                .filter(word -> !word.isEmpty())
                .toList();
    }

    private void check(boolean holds, String subject, String otherwise) throws IOException {
        if (!holds) {
            throw wrong(subject, otherwise);
        }
    }

    private IOException wrong(String subject, String problem) {
        return new IOException(file + ": " + subject + " " + problem);
    }
}
