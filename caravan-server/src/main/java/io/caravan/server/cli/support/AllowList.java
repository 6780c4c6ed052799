package io.caravan.server.cli.support;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Discloses only fields that are listed by name, and only values in the form that the list requires for the field. */
final class AllowList {
    static final String HIDDEN = "(hidden)";

    static final Predicate<String> NUMBER = matching("-?[0-9]{1,20}(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,4})?");
    /** Accepts a word in the form that the program uses for states and kinds. */
    static final Predicate<String> WORD = matching("[a-z][a-z_-]{0,23}|");

    static final Predicate<String> VERSION = matching("[0-9]{1,4}[0-9a-zA-Z.+-]{0,40}|unpackaged");
    static final Predicate<String> MOMENT = matching("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]{5,18}(Z|[+-][0-9:]{5})");

    private final Map<String, Predicate<String>> fields;

    AllowList(Map<String, Predicate<String>> fields) {
        this.fields = Map.copyOf(fields);
    }

    /** Creates an allow list of numeric fields, and of fields with other forms. */
    static AllowList of(List<String> numbers, Map<String, Predicate<String>> others) {
        Map<String, Predicate<String>> fields = new LinkedHashMap<>(others);
        numbers.forEach(name -> fields.put(name, NUMBER));
        return new AllowList(fields);
    }

    static Predicate<String> matching(String pattern) {
        return Pattern.compile(pattern).asMatchPredicate();
    }

    static Predicate<String> oneOf(String... words) {
        return List.of(words)::contains;
    }

    boolean knows(String name) {
        return fields.containsKey(name);
    }

    /** Returns the value, or {@link #HIDDEN} if its form is wrong, or null if the field is not on the list. */
    @Nullable
    String value(String name, String value) {
        Predicate<String> form = fields.get(name);
        if (form == null) {
            return null;
        }
        return form.test(value) ? value : HIDDEN;
    }

    /** Returns the permitted fields and their values. */
    Map<String, String> values(Map<String, String> all) {
        Map<String, String> shown = new LinkedHashMap<>();
        all.forEach((name, value) -> {
            String allowed = value(name, value);
            if (allowed != null) {
                shown.put(name, allowed);
            }
        });
        return shown;
    }

    /** Returns the permitted contents of a JSON value: the listed fields of objects, and the elements of arrays. */
    @Nullable
    Object values(JsonNode node) {
        if (node.isArray()) {
            List<Object> elements = new ArrayList<>();
            node.forEach(element -> {
                Object allowed = element.isContainerNode() ? values(element) : HIDDEN;
                elements.add(allowed == null ? HIDDEN : allowed);
            });
            return elements;
        }
        Map<String, Object> shown = new LinkedHashMap<>();
        node.fields().forEachRemaining(field -> {
            Object allowed = knows(field.getKey()) ? allowed(field.getKey(), field.getValue()) : null;
            if (allowed != null) {
                shown.put(field.getKey(), allowed);
            }
        });
        return shown;
    }

    private @Nullable Object allowed(String name, JsonNode value) {
        if (value.isContainerNode()) {
            return values(value);
        }
        if (value.isBoolean() || value.isNull()) {
            return value.isNull() ? null : value.booleanValue();
        }
        String shown = value(name, value.asText());
        return value.isNumber() && value.asText().equals(shown) ? value.numberValue() : shown;
    }
}
