# Adds the remote tiers to a layer, from their own object files. Their calls of libcurl are bound to a file of
# libingot-cache, which opens libcurl when a server is named. It does not contain what pushes and pulls images.
macro(ingot_layer_add_remote layer)
    if(TARGET ingot_remote_objects)
        ingot_find_remote_libraries() # the targets of these libraries exist only in the directory of remote
        set(without "/image/|xxh3_(avx2|plain)\\.c|zstd_frame\\.c")
        target_sources(${layer} PRIVATE ${PROJECT_SOURCE_DIR}/src/front/loader/curl.c
            "$<FILTER:$<TARGET_OBJECTS:ingot_remote_objects>,EXCLUDE,${without}>")
        target_compile_definitions(${layer} PRIVATE INGOT_LAYER_HAS_REMOTE)
        get_target_property(curl_includes ingot_dep::curl INTERFACE_INCLUDE_DIRECTORIES)
        target_include_directories(${layer} SYSTEM PRIVATE "$<$<BOOL:${curl_includes}>:${curl_includes}>")
        target_link_libraries(${layer} PRIVATE ingot_dep::sodium ingot_dep::hiredis ingot_dep::zstd)
    endif()
endmacro()
