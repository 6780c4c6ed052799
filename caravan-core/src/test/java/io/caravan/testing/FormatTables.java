package io.caravan.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.Field;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * Compares the tables on a page of {@code docs/internals} with the public numeric constants of classes. Each table
 * follows a comment with its marker.
 */
public final class FormatTables {
    private final String document;
    private final List<Class<?>> classes;
    private final List<Layout> layouts;
    private final String constantsMarker;

    /**
     * A documented layout, and the class that defines it.
     *
     * @param name the name in the marker, after {@code layout: }
     * @param owner the class that declares its fields
     * @param prefix the prefix of the field names; empty for the fields that belong to no other layout of the class
     */
    public record Layout(String name, Class<?> owner, String prefix) {
        private boolean hasPrefixOf(String constant) {
            return !prefix.isEmpty() && constant.startsWith(prefix);
        }
    }

    /**
     * Reads a page of {@code docs/internals}.
     *
     * @param page the name of the file
     * @param classes the classes whose numbers the page documents
     * @param layouts the tables of the fields of these classes
     * @param constantsMarker the marker of the table of all other numbers
     */
    public FormatTables(String page, List<Class<?>> classes, List<Layout> layouts, String constantsMarker) {
        this.document = read(page);
        this.classes = List.copyOf(classes);
        this.layouts = List.copyOf(layouts);
        this.constantsMarker = constantsMarker;
    }

    private static String read(String page) {
        Path inModule = Path.of("../docs/internals", page);
        try {
            return Files.readString(Files.exists(inModule) ? inModule : Path.of("docs/internals", page));
        } catch (IOException missing) {
            throw new UncheckedIOException(missing);
        }
    }

    public String document() {
        return document;
    }

    /** Returns the fields of a layout according to the page. */
    public Map<String, Long> documentedOffsets(Layout layout) {
        Map<String, Long> offsets = new TreeMap<>();
        fields(layout).forEach(row -> offsets.put(row.get(0), Long.parseLong(row.get(1))));
        return offsets;
    }

    /** Returns the fields of a layout according to its class. */
    public Map<String, Long> offsets(Layout layout) {
        Map<String, Long> listed = documentedConstants();
        Map<String, Long> inCode = numbersOf(layout.owner());
        inCode.keySet()
                .removeIf(name ->
                        !isOf(layout, name) || listed.containsKey(layout.owner().getSimpleName() + "." + name));
        return inCode;
    }

    private boolean isOf(Layout layout, String constant) {
        return layout.prefix().isEmpty()
                ? layouts.stream().noneMatch(other -> other.owner() == layout.owner() && other.hasPrefixOf(constant))
                : layout.hasPrefixOf(constant);
    }

    /** Checks that each field on the page starts where the previous one ends. */
    public void checkOrder(Layout layout) {
        List<List<String>> rows = fields(layout);
        for (int i = 0; i + 1 < rows.size(); i++) {
            long end = Long.parseLong(rows.get(i).get(1))
                    + Long.parseLong(rows.get(i).get(2));
            assertThat(rows.get(i + 1).get(1))
                    .as("offset behind " + rows.get(i))
                    .isEqualTo(Long.toString(end));
        }
    }

    /** Returns all documented numbers that are not offsets of fields. */
    public Map<String, Long> documentedConstants() {
        Map<String, Long> values = new TreeMap<>();
        tableBehind(constantsMarker).forEach(row -> values.put(row.get(0), Long.decode(row.get(1))));
        return values;
    }

    /** Returns all constants of the classes, except those that the page documents as fields. */
    public Map<String, Long> constants() {
        Map<String, Long> inCode = new TreeMap<>();
        for (Class<?> owner : classes) {
            numbersOf(owner).forEach((name, value) -> inCode.put(owner.getSimpleName() + "." + name, value));
        }
        for (Layout layout : layouts) {
            fields(layout).forEach(row -> inCode.remove(layout.owner().getSimpleName() + "." + row.get(0)));
        }
        return inCode;
    }

    private List<List<String>> fields(Layout layout) {
        return tableBehind("layout: " + layout.name());
    }

    private static Map<String, Long> numbersOf(Class<?> owner) {
        Map<String, Long> constants = new TreeMap<>();
        for (Field field : owner.getDeclaredFields()) {
            boolean constant = Modifier.isStatic(field.getModifiers()) && Modifier.isPublic(field.getModifiers());
            if (constant && (field.getType() == int.class || field.getType() == long.class)) {
                constants.put(field.getName(), valueOf(field));
            }
        }
        return constants;
    }

    private static long valueOf(Field field) {
        try {
            return ((Number) field.get(null)).longValue();
        } catch (IllegalAccessException e) {
            throw new AssertionError(e);
        }
    }

    /** Returns the rows of the table that follows a marker, without the header row. */
    public List<List<String>> tableBehind(String marker) {
        int at = document.indexOf("<!-- " + marker + " -->");
        assertThat(at).as(marker).isNotNegative();
        List<List<String>> rows = new ArrayList<>();
        for (String line : document.substring(at).lines().skip(1).toList()) {
            if (line.startsWith("|")) {
                rows.add(Stream.of(line.substring(1).split("\\|"))
                        .map(String::trim)
                        .toList());
            } else if (!line.isBlank()) {
                break;
            }
        }
        return rows.subList(2, rows.size());
    }
}
