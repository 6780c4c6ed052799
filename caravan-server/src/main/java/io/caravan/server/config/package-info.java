/**
 * Where settings come from: the command line, the environment, a file ({@link io.caravan.server.config.Settings}); and
 * files that are read again when they change ({@link io.caravan.server.config.FileWatch}).
 */
@NullMarked
package io.caravan.server.config;

import org.jspecify.annotations.NullMarked;
